/* A57: file names that no listing should print, and a tree that no recursion should walk. */
#include <sys/stat.h>

#include "probe.h"

int probe_hostile_names(int argc, char** argv) {
  (void)argc;
  (void)argv;
  static const char* const names[] = {
      "new\nline", "\033[2J\033]0;title\007", "\xff\xfe\x80", "-rf", " ", "%n%s", "$(reboot)", "a'b\"c`d"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) say("create", open(names[i], O_WRONLY | O_CREAT, 0600));
  long depth = 0;
  while (depth < 2000 && mkdir("deep", 0700) == 0 && chdir("deep") == 0) ++depth;
  say_number("depth", depth);
  say("fifo", mkfifo("fifo", 0600));
  say("symlink", symlink("/etc/shadow", "link"));
  say("device", mknod("device", S_IFCHR | 0600, 1 << 8 | 1));
  return 0;
}
