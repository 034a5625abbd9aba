// Reaching files: of the host, of the read-only parts, of the kernel; and processes of the host.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "jail/probe/attack.h"

namespace mayfly::probe {
namespace {

int open_result(const char* path, int flags) {
  const int file = ::open(path, flags | O_CLOEXEC, 0600);
  if (file < 0) return errno;
  ::close(file);
  return 0;
}

// A file without a name: where it works, nothing is left.
int write_in(const char* directory) { return open_result(directory, O_TMPFILE | O_WRONLY); }

int write_usr(const Targets&) { return write_in("/usr"); }
int write_etc(const Targets&) { return write_in("/etc"); }
int write_root(const Targets&) { return write_in("/"); }
int read_shadow(const Targets&) { return open_result("/etc/shadow", O_RDONLY); }
int read_root_home(const Targets&) { return open_result("/root", O_RDONLY | O_DIRECTORY); }
int read_host_file(const Targets& targets) { return open_result(targets.secret_path, O_RDONLY); }
int see_sysfs(const Targets&) { return open_result("/sys/kernel", O_RDONLY | O_DIRECTORY); }
int change_kernel_setting(const Targets&) { return open_result("/proc/sys/kernel/core_pattern", O_WRONLY); }
int read_kernel_memory(const Targets&) { return open_result("/proc/kcore", O_RDONLY); }

int see_host_process(const Targets& targets) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", targets.host_pid);
  return open_result(path, O_RDONLY);
}

int signal_host_process(const Targets& targets) { return ::kill(targets.host_pid, 0) == 0 ? 0 : errno; }

// More than a handful of processes in /proc are not the jail's own: our init, the probe, its child.
int list_host_processes(const Targets&) {
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return errno;
  int count = 0;
  while (const dirent* entry = ::readdir(proc))
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') ++count;
  ::closedir(proc);
  return count > 3 ? 0 : ESRCH;
}

int reach_host_root(const Targets& targets) {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/%d/root/etc/passwd", targets.host_pid);
  return open_result(path, O_RDONLY);
}

// Character device 1:1 is all of the machine's memory; where the node can be made it is taken away at once.
int make_device(const Targets&) {
  if (::mknod("/tmp/mayfly-probe-mem", S_IFCHR | 0600, makedev(1, 1)) != 0) return errno;
  const int error = open_result("/tmp/mayfly-probe-mem", O_RDONLY);
  ::unlink("/tmp/mayfly-probe-mem");
  // Some kernels have no such device: that the node could be made is what counts.
  return error == EACCES || error == EPERM ? error : 0;
}

constexpr Attack kAttacks[] = {
    {"write-usr", write_usr},
    {"write-etc", write_etc},
    {"write-root", write_root},
    {"read-shadow", read_shadow},
    {"read-root-home", read_root_home},
    {"read-host-file", read_host_file},
    {"see-sysfs", see_sysfs},
    {"change-kernel-setting", change_kernel_setting},
    {"read-kernel-memory", read_kernel_memory},
    {"see-host-process", see_host_process},
    {"signal-host-process", signal_host_process},
    {"list-host-processes", list_host_processes},
    {"reach-host-root", reach_host_root},
    {"make-device", make_device},
};

}  // namespace

AttackTable file_attacks() { return {kAttacks, sizeof kAttacks / sizeof *kAttacks}; }

}  // namespace mayfly::probe
