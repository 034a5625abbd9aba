/* A31: every exit code and every signal. */
#include <sys/resource.h>

#include "probe.h"

int probe_exit_with(int argc, char** argv) { return (int)count_from(argc, argv, 0); }

int probe_die_of(int argc, char** argv) {
  const int number = (int)count_from(argc, argv, SIGKILL);
  signal(number, SIG_DFL);
  kill(getpid(), number);
  usleep(100000);
  return 0;
}
