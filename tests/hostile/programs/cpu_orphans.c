/* A28: CPU time burnt by orphans and by many short children, while the main program only sleeps. */
#include "probe.h"

int probe_cpu_orphans(int argc, char** argv) {
  const double end = seconds_now() + (double)count_from(argc, argv, 3600);
  if (fork() == 0) {
    while (seconds_now() < end) {
      if (fork() == 0) {
        const double stop = seconds_now() + 0.02;
        while (seconds_now() < stop) {
        }
        _exit(0);
      }
      waitpid(-1, NULL, 0);
    }
    _exit(0);
  }
  say_text("begun", "yes");
  while (seconds_now() < end) usleep(100000);
  return 0;
}
