/* A41, A43, A65: what /proc and /sys offer. */
#include <dirent.h>
#include <sys/stat.h>

#include "probe.h"

int probe_proc_writes(int argc, char** argv) {
  (void)argc;
  (void)argv;
  static const char* const paths[] = {"/proc/sysrq-trigger",
                                      "/proc/sys/kernel/core_pattern",
                                      "/proc/sys/kernel/hostname",
                                      "/proc/sys/vm/drop_caches",
                                      "/proc/sys/fs/file-max",
                                      "/proc/sys/user/max_user_namespaces",
                                      "/proc/irq/default_smp_affinity",
                                      "/proc/self/oom_score_adj",
                                      "/proc/self/attr/current",
                                      "/proc/self/uid_map",
                                      "/proc/self/setgroups",
                                      "/proc/1/oom_score_adj"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) say(paths[i], open(paths[i], O_WRONLY));
  return 0;
}

/* "empty" where a mask lets a read succeed and gives nothing. */
static void look(const char* path) {
  char bytes[64];
  struct stat about;
  if (stat(path, &about) != 0) {
    say(path, -1);
    return;
  }
  if (S_ISDIR(about.st_mode)) {
    DIR* folder = opendir(path);
    long entries = 0;
    if (folder == NULL) {
      say(path, -1);
      return;
    }
    while (readdir(folder)) ++entries;
    closedir(folder);
    say_text(path, entries <= 2 ? "empty" : "ok");
    return;
  }
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    say(path, -1);
    return;
  }
  const ssize_t count = read(fd, bytes, sizeof bytes);
  if (count < 0)
    say(path, -1);
  else
    say_text(path, count == 0 ? "empty" : "ok");
  close(fd);
}

int probe_proc_reads(int argc, char** argv) {
  (void)argc;
  (void)argv;
  static const char* const paths[] = {
      "/proc/kcore",  "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/acpi",          "/proc/scsi",
      "/proc/bus",    "/proc/fs",   "/proc/irq",        "/proc/kmsg",        "/proc/latency_stats", "/proc/interrupts",
      "/proc/asound", "/sys",       "/sys/fs/cgroup",   "/sys/kernel",       "/sys/firmware",       "/dev/mem",
      "/dev/kmsg",    "/dev/sda",   "/dev/vda",         "/dev/fuse",         "/dev/net/tun",        "/dev/kvm"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) look(paths[i]);
  return 0;
}

static int contains(const char* path, const char* needle) {
  static char text[1 << 16];
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t length = 0, count = 0;
  while (length < (ssize_t)sizeof text - 1 && (count = read(fd, text + length, sizeof text - 1 - (size_t)length)) > 0)
    length += count;
  close(fd);
  text[length] = 0;
  return memmem(text, (size_t)length, needle, strlen(needle)) != NULL;
}

/* Looks for words, given as arguments, in everything that tells about mounts, cgroups and command lines. */
int probe_host_words(int argc, char** argv) {
  static const char* const paths[] = {"/proc/self/mountinfo",  "/proc/mounts",     "/proc/self/cgroup",
                                      "/proc/self/mountstats", "/proc/1/cmdline",  "/proc/cmdline",
                                      "/proc/1/comm",          "/etc/hosts",       "/etc/hostname",
                                      "/etc/passwd",           "/etc/resolv.conf", "/proc/self/maps"};
  for (int word = 1; word < argc; ++word)
    for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i)
      if (contains(paths[i], argv[word])) say_text(argv[word], paths[i]);
  char name[64] = "";
  gethostname(name, sizeof name);
  say_text("host", name);
  return 0;
}

/* Every process that shows: as a number of directories of /proc, and each task's own account of its confinement. */
int probe_processes_seen(int argc, char** argv) {
  (void)argc;
  (void)argv;
  DIR* folder = opendir("/proc");
  if (folder == NULL) {
    say("proc", -1);
    return 0;
  }
  long seen = 0;
  for (const struct dirent* entry = readdir(folder); entry; entry = readdir(folder))
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') ++seen;
  closedir(folder);
  say_number("seen", seen);
  say_number("me", getpid());
  return 0;
}

int probe_own_status(int argc, char** argv) {
  (void)argc;
  (void)argv;
  static const char* const wanted[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"};
  FILE* status = fopen("/proc/self/task/self/status", "r");
  if (status == NULL) status = fopen("/proc/self/status", "r");
  if (status == NULL) {
    say("status", -1);
    return 0;
  }
  char line[256];
  while (fgets(line, sizeof line, status))
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
      const size_t length = strlen(wanted[i]);
      if (strncmp(line, wanted[i], length) != 0 || line[length] != ':') continue;
      char* value = line + length + 1;
      value += strspn(value, " \t");
      value[strcspn(value, "\n")] = 0;
      say_text(wanted[i], value);
    }
  fclose(status);
  return 0;
}

int probe_cgroup_files(int argc, char** argv) {
  (void)argc;
  (void)argv;
  say("sysfs", open("/sys/fs/cgroup", O_RDONLY | O_DIRECTORY));
  say("release_agent", open("/sys/fs/cgroup/memory/release_agent", O_WRONLY));
  say("procs", open("/sys/fs/cgroup/cgroup.procs", O_WRONLY));
  say("mkdir", mkdir("/sys/fs/cgroup/mayfly-probe", 0700));
  rmdir("/sys/fs/cgroup/mayfly-probe");  // where it works, outside, it is not left there
  return 0;
}
