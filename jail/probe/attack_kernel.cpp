// Gaining rights, and kernel interfaces that widen what a program can do.
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jail/probe/attack.h"

namespace mayfly::probe {
namespace {

int result_of(long outcome) { return outcome >= 0 ? 0 : errno; }

int result_of_fd(long outcome) {
  if (outcome < 0) return errno;
  ::close(static_cast<int>(outcome));
  return 0;
}

int user_namespace(const Targets&) { return result_of(::unshare(CLONE_NEWUSER)); }

// fsopen(2) wants the right to mount and mounts nothing. With a user namespace of its own first, if one is to be had.
int mount_filesystem(const Targets&) {
  (void)::unshare(CLONE_NEWUSER | CLONE_NEWNS);
  return result_of_fd(::syscall(SYS_fsopen, "tmpfs", 1u));
}

int change_root(const Targets&) { return result_of(::chroot("/")); }
int become_root(const Targets&) { return result_of(::setuid(0)); }

// A setuid file gives its owner's rights unless the mount or the process forbids it.
int gain_by_setuid_file(const Targets&) {
  struct statvfs usr {};
  if (::statvfs("/usr/bin", &usr) != 0) return errno;
  const bool forbidden = (usr.f_flag & ST_NOSUID) != 0 && ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
  return forbidden ? EPERM : 0;
}

int trace_process(const Targets&) {
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const int error = result_of(::ptrace(PTRACE_SEIZE, child, nullptr, nullptr));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return error;
}

int add_key(const Targets&) {
  return result_of(::syscall(SYS_add_key, "user", "mayfly-probe", "x", std::size_t{1}, KEY_SPEC_PROCESS_KEYRING));
}

int use_io_uring(const Targets&) {
  char parameters[120];  // struct io_uring_params
  std::memset(parameters, 0, sizeof parameters);
  return result_of_fd(::syscall(SYS_io_uring_setup, 4u, parameters));
}

int load_bpf(const Targets&) {
  bpf_attr attribute;
  std::memset(&attribute, 0, sizeof attribute);
  attribute.map_type = BPF_MAP_TYPE_ARRAY;
  attribute.key_size = 4;
  attribute.value_size = 8;
  attribute.max_entries = 1;
  return result_of_fd(::syscall(SYS_bpf, BPF_MAP_CREATE, &attribute, sizeof attribute));
}

int count_events(const Targets&) {
  char attribute[128];  // struct perf_event_attr: a software clock
  std::memset(attribute, 0, sizeof attribute);
  const unsigned type = 1, size = sizeof attribute;  // PERF_TYPE_SOFTWARE, config 0: PERF_COUNT_SW_CPU_CLOCK
  std::memcpy(attribute, &type, sizeof type);
  std::memcpy(attribute + sizeof type, &size, sizeof size);
  return result_of_fd(::syscall(SYS_perf_event_open, attribute, 0, -1, -1, 0ul));
}

int set_host_name(const Targets&) {
  char name[65] = {};
  if (::gethostname(name, sizeof name - 1) != 0) return errno;
  return result_of(::sethostname(name, std::strlen(name)));  // to what it is
}

// getpid by the 32-bit gate: call numbers mean something else there, so a filter of 64-bit numbers is no filter.
int call_foreign_architecture(const Targets&) {
#if defined(__x86_64__)
  long number = 20;
  __asm__ volatile("int $0x80" : "+a"(number) : : "r8", "r9", "r10", "r11", "memory", "cc");
  return number > 0 ? 0 : static_cast<int>(-number);
#else
  return ENOSYS;
#endif
}

constexpr Attack kAttacks[] = {
    {"user-namespace", user_namespace},
    {"mount", mount_filesystem},
    {"change-root", change_root},
    {"become-root", become_root},
    {"setuid-file", gain_by_setuid_file},
    {"trace-process", trace_process},
    {"add-key", add_key},
    {"io-uring", use_io_uring},
    {"load-bpf", load_bpf},
    {"perf-events", count_events},
    {"set-host-name", set_host_name},
    {"foreign-architecture", call_foreign_architecture},
};

}  // namespace

AttackTable kernel_attacks() { return {kAttacks, sizeof kAttacks / sizeof *kAttacks}; }

}  // namespace mayfly::probe
