/* A01, A26: every process makes two more, for ever; where the number is bounded it keeps trying. */
#include "probe.h"

int probe_fork_tree(int argc, char** argv) {
  const double end = seconds_now() + (double)count_from(argc, argv, 3600);
  say_text("begun", "yes");
  while (seconds_now() < end) {
    if (fork() == 0) setsid();
    waitpid(-1, NULL, WNOHANG);
  }
  return 0;
}
