/* A51: typing into a terminal, line disciplines, console redirection; on standard input, and on a pty of its own. */
#include <sys/ioctl.h>

#include "probe.h"

static void attack(const char* name, int fd) {
  char what[48];
  char letter = 'x', selection = 2;
  const int discipline = 3; /* N_MOUSE? any but 0 */
#define ATTACK(request, argument)                       \
  snprintf(what, sizeof what, "%s.%s", name, #request); \
  say(what, ioctl(fd, request, argument))
  ATTACK(TIOCSTI, &letter);
  ATTACK(TIOCLINUX, &selection);
  ATTACK(TIOCSETD, &discipline);
  ATTACK(TIOCCONS, 0);
  snprintf(what, sizeof what, "%s.wide", name);
  say(what, syscall(SYS_ioctl, fd, 0xffffffff00000000ul | TIOCSTI, &letter));
}

int probe_terminal(int argc, char** argv) {
  (void)argc;
  (void)argv;
  attack("stdin", 0);
  const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  say("openpt", master);
  if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0) {
    const int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY);
    say("peer", slave);
    if (slave >= 0) attack("slave", slave);
  }
  return 0;
}

/* A pty flood: how many go. */
int probe_pty_flood(int argc, char** argv) {
  const long most = count_from(argc, argv, 10000);
  long made = 0;
  while (made < most && posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC) >= 0) ++made;
  say("openpt", made < most ? -1 : 0);
  say_number("made", made);
  return 0;
}
