/* A23: timers without number. */
#include "probe.h"

int probe_timer_flood(int argc, char** argv) {
  const long most = count_from(argc, argv, 100000);
  long made = 0;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  signal(SIGUSR1, SIG_IGN);
  const struct itimerspec often = {{0, 1000000}, {0, 1000000}};
  timer_t timer;
  for (; made < most; ++made) {
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) break;
    timer_settime(timer, 0, &often, NULL);
  }
  say("timer_create", made < most ? -1 : 0);
  say_number("made", made);
  return 0;
}
