/* A44, A45, A46, A64: calls that reach the kernel or the whole host. Arguments are such that the kernel itself would
 * refuse them as nonsense before it changed anything: the control shows that the call gets that far outside. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/timex.h>

#include "probe.h"

#define TRY_CALL(name, ...) say(#name, syscall(SYS_##name, __VA_ARGS__))

int probe_keyrings(int argc, char** argv) {
  (void)argc;
  (void)argv;
  TRY_CALL(keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -3 /* session */, 0, 0, 0);
  TRY_CALL(add_key, "user", "mayfly-probe", "x", 1, -2 /* process keyring: gone with this process */);
  TRY_CALL(request_key, "user", "mayfly-no-such-key", 0, -2);
  return 0;
}

int probe_io_uring(int argc, char** argv) {
  (void)argc;
  (void)argv;
  static char parameters[120];
  const long ring = syscall(SYS_io_uring_setup, 4, parameters);
  say("io_uring_setup", ring);
  TRY_CALL(io_uring_enter, ring, 0, 0, 0, 0, 0);
  TRY_CALL(io_uring_register, ring, 9999, 0, 0);
  unsigned long context = 0;
  TRY_CALL(io_setup, 1, &context);
  return 0;
}

int probe_kernel_calls(int argc, char** argv) {
  (void)argc;
  (void)argv;
  TRY_CALL(bpf, 9999, 0, 0);
  TRY_CALL(perf_event_open, 0, 0, -1, -1, 0);
  TRY_CALL(userfaultfd, 0xffffff);
  TRY_CALL(kexec_load, 0, 0, 0, 0xdeadul << 16);
  TRY_CALL(init_module, 0, 0, "");
  TRY_CALL(finit_module, -1, "", 0);
  TRY_CALL(delete_module, "mayfly-no-such-module", 0x800 /* O_NONBLOCK */);
  TRY_CALL(acct, "/no/such/file");
  TRY_CALL(swapon, "/no/such/file", 0);
  TRY_CALL(swapoff, "/no/such/file");
  TRY_CALL(reboot, 1, 2, 3, 0);
  TRY_CALL(iopl, 9);
  TRY_CALL(ioperm, -1, 1, 1);
  TRY_CALL(quotactl, -1, 0, 0, 0);
  TRY_CALL(fanotify_init, -1, 0);
  TRY_CALL(open_by_handle_at, -1, 0, 0);
  TRY_CALL(name_to_handle_at, -1, "/no/such/file", 0, 0, 0);
  TRY_CALL(lookup_dcookie, 0, 0, 0);
  TRY_CALL(syslog, 99, 0, 0);
  TRY_CALL(sethostname, "x", -1);
  TRY_CALL(setdomainname, "x", -1);
  TRY_CALL(modify_ldt, 99, 0, 0);
  return 0;
}

/* A20: a filter of its own whose only word is "log this call". */
int probe_logging_filter(int argc, char** argv) {
  (void)argc;
  (void)argv;
  struct sock_filter log_all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG)};
  struct sock_fprog program = {1, log_all};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  say("seccomp", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
  say("prctl", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0));
  for (int i = 0; i < 1000; ++i) getppid();
  return 0;
}

/* P05: what others open, and the host's own file systems. */
int probe_watch_host(int argc, char** argv) {
  (void)argc;
  (void)argv;
  TRY_CALL(inotify_init1, 0);
  const int usr = open("/usr/bin", O_RDONLY | O_DIRECTORY);
  say("fcntl", fcntl(usr, 1026 /* F_NOTIFY */, 1));
  TRY_CALL(syncfs, usr);
  int ends[2];
  if (pipe(ends) != 0) return 1;
  TRY_CALL(splice, ends[0], 0, ends[1], 0, 1, 2 /* SPLICE_F_NONBLOCK */);
  return 0;
}

int probe_clocks(int argc, char** argv) {
  (void)argc;
  (void)argv;
  const struct timespec nonsense = {0, 2000000000};
  const long bad_time[2] = {0, 2000000};
  TRY_CALL(clock_settime, CLOCK_REALTIME, &nonsense);
  TRY_CALL(settimeofday, bad_time, 0);
  struct timex look = {.modes = 0};
  TRY_CALL(adjtimex, &look);
  TRY_CALL(clock_adjtime, CLOCK_REALTIME, &look);
  return 0;
}

int probe_personality(int argc, char** argv) {
  (void)argc;
  (void)argv;
  TRY_CALL(personality, 0xffffffff);
  TRY_CALL(personality, 0x00040000 /* ADDR_NO_RANDOMIZE */);
  return 0;
}
