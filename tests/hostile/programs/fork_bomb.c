/* A01: processes until the limit says no; all of them stay until the end. */
#include "probe.h"

int probe_fork_bomb(int argc, char** argv) {
  const long most = count_from(argc, argv, 20000);
  const pid_t parent = getpid();
  long made = 0;
  pid_t child = 1;
  while (made < most && (child = fork()) > 0) ++made;
  if (child == 0) {
    while (getppid() == parent) usleep(20000); /* ends by itself where the parent is gone */
    _exit(0);
  }
  say("fork", child);
  say_number("made", made);
  return 0;
}
