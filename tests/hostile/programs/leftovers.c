/* A24, A25, A68: what stays behind when the main program ends. */
#include "probe.h"

/* A double-forked process in a session of its own holds stdout open and ignores every signal. */
int probe_holds_stdout(int argc, char** argv) {
  const long seconds = count_from(argc, argv, 3600);
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
    say_text("left", "behind");
    sleep((unsigned)seconds);
    _exit(0);
  }
  wait(NULL);
  usleep(100000);
  return 7;
}

/* Ignores all that can be ignored and blocks the rest; then waits. */
int probe_ignores_signals(int argc, char** argv) {
  const long seconds = count_from(argc, argv, 3600);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL);
  for (int number = 1; number < 65; ++number) signal(number, SIG_IGN);
  setsid();
  say_text("begun", "yes");
  const double end = seconds_now() + (double)seconds;
  while (seconds_now() < end) usleep(50000);
  return 0;
}

/* Stops itself and everybody that it can reach. */
int probe_stops_itself(int argc, char** argv) {
  say_text("begun", "yes");
  if (argc > 1) return 0;
  (void)argv;
  kill(getppid(), SIGSTOP);
  kill(1, SIGSTOP);
  raise(SIGSTOP);
  return 0;
}

/* Many orphans for pid 1 to reap, and signals to it in between. */
int probe_orphan_flood(int argc, char** argv) {
  const long most = count_from(argc, argv, 20000);
  long made = 0;
  for (; made < most; ++made) {
    const pid_t child = fork();
    if (child < 0) {
      usleep(1000);
      continue;
    }
    if (child == 0) {
      if (fork() == 0) _exit(0);
      _exit(0);
    }
    waitpid(child, NULL, 0);
    if (argc > 2) {
      kill(1, SIGSTOP);
      kill(1, SIGCHLD);
    }
  }
  say_number("orphans", made);
  return 0;
}
