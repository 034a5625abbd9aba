/* A01: a chain of processes, each the only child of the one before, as deep as it goes. */
#include "probe.h"

int probe_fork_chain(int argc, char** argv) {
  const long most = count_from(argc, argv, 20000);
  long depth = 0;
  pid_t child = 0;
  while (depth < most && (child = fork()) == 0) ++depth;
  if (child > 0) {
    waitpid(child, NULL, 0);
    if (depth > 0) _exit(0);
    return 0;
  }
  say("fork", child);
  say_number("depth", depth);
  _exit(0);
}
