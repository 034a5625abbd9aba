#include "jail/builder/outside/normalise.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <linux/landlock.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace mayfly {

namespace {

// The OCI defaults, and the command line and symbols of the host's kernel. What the OCI makes read-only is so anyway:
// all of a jail's /proc is. What only uid 0 may read (kmsg, kpagecount, vmallocinfo ...) nobody can: there is no uid 0
// inside.
constexpr std::array kMaskCandidates = {
    "acpi",  "asound", "cmdline",       "interrupts",  "kallsyms",   "kcore",       "keys",
    "locks", "scsi",   "latency_stats", "sched_debug", "timer_list", "timer_stats",
};

// Where a 64-bit Debian with a merged /usr has symlinks at its root.
constexpr std::array kRootLinks = {RootLink{"bin", "usr/bin"},       RootLink{"lib", "usr/lib"},
                                   RootLink{"lib32", "usr/lib32"},   RootLink{"lib64", "usr/lib64"},
                                   RootLink{"libx32", "usr/libx32"}, RootLink{"sbin", "usr/sbin"}};

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);  // fails for KILL and STOP only
  ::signal(SIGCHLD, SIG_IGN);
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void read_processors(HostFacts& facts) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (unsigned i = 0; i < CPU_SETSIZE && facts.processor_count < HostFacts::kMostProcessors; ++i)
    if (CPU_ISSET(i, &allowed)) facts.processors[facts.processor_count++] = static_cast<std::uint16_t>(i);
}

// Above our own, never below: lowering takes CAP_SYS_RESOURCE, which not even every root has.
std::int32_t oom_score_of_jails() {
  constexpr std::int32_t kJail = 800;  // of -1000..1000 (proc(5)); what the service itself starts with is 0
  const int file = ::open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
  char text[16];
  const ssize_t count = ::read(file, text, sizeof text);
  ::close(file);
  std::int32_t own = 0;
  if (count > 0) std::from_chars(text, text + count, own);
  return std::max(own, kJail);
}

// Descriptors in flight are counted against it (unix(7)), and as an ordinary user all of a host's together. Jails have
// limits of their own, and never more than we were started with.
void raise_descriptor_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

void normalise(Privilege privilege) {
  reset_signals();
  ::umask(0);
  ::personality(PER_LINUX);
  const sched_param fair{};
  ::sched_setscheduler(0, SCHED_OTHER, &fair);
  ::setpriority(PRIO_PROCESS, 0, 0);
  constexpr int kIoprioWhoProcess = 1;
  ::syscall(SYS_ioprio_set, kIoprioWhoProcess, 0, 0);
  ::prctl(PR_SET_TIMERSLACK, 0);
  ::prctl(PR_SET_PDEATHSIG, 0);
  // ENOSYS: a kernel without keys. Jails share this keyring and cannot name it: every key call is absent inside.
  ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  if (privilege == Privilege::Root) ::setgroups(0, nullptr);
}

int keep_capabilities() { return ::prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) == 0 ? 0 : errno; }

void look_at_host(HostFacts& facts) {
  facts.caller_uid = ::geteuid();
  facts.caller_gid = ::getegid();
  for (unsigned i = 0; i < RLIM_NLIMITS; ++i) ::getrlimit(static_cast<__rlimit_resource>(i), &facts.limits[i]);
  raise_descriptor_limit();
  read_processors(facts);
  facts.oom_score_adj = oom_score_of_jails();
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  facts.landlock_abi = abi > 0 ? static_cast<std::uint32_t>(abi) : 0;
  const int root = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (const RootLink& link : kRootLinks) {
    struct stat status {};
    if (::fstatat(root, link.target, &status, 0) == 0 && S_ISDIR(status.st_mode))
      facts.links[facts.link_count++] = link;
  }
  ::close(root);
}

int name_own_namespaces(HostFacts& facts, int host_proc) {
  for (std::size_t i = 0; i < kNamespaceCount; ++i) {
    char path[24] = "self/";
    std::strcat(path, kNamespaceLinks[i]);
    struct stat status {};
    if (::fstatat(host_proc, path, &status, 0) != 0) return errno;
    facts.namespaces[i] = status.st_ino;
  }
  return 0;
}

void choose_masks(HostFacts& facts) {
  const int proc = ::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  for (const char* path : kMaskCandidates) {
    struct stat status {};
    if (::fstatat(proc, path, &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    facts.masks[facts.mask_count++] = {path, S_ISDIR(status.st_mode) ? MaskKind::Directory : MaskKind::File};
  }
  ::close(proc);
}

}  // namespace mayfly
