/* A19, A20: storms of signals, of exits and of refused calls. */
#include "probe.h"

static void nothing(int number) { (void)number; }

int probe_signal_storm(int argc, char** argv) {
  const double end = seconds_now() + (double)count_from(argc, argv, 3600);
  signal(SIGUSR1, nothing);
  signal(SIGUSR2, nothing);
  const pid_t target = getpid();
  for (int i = 0; i < 4; ++i)
    if (fork() == 0) {
      while (seconds_now() < end && kill(target, i % 2 ? SIGUSR1 : SIGUSR2) == 0) {
      }
      _exit(0);
    }
  say_text("begun", "yes");
  while (seconds_now() < end) {
    if (fork() == 0) _exit(0);
    waitpid(-1, NULL, WNOHANG);
  }
  return 0;
}

int probe_refused_calls(int argc, char** argv) {
  const long most = count_from(argc, argv, 200000);
  for (long i = 0; i < most; ++i) {
    syscall(SYS_ptrace, -1, 0, 0, 0);
    syscall(SYS_keyctl, -1);
  }
  say_number("calls", most * 2);
  return 0;
}
