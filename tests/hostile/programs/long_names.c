/* A17: names, paths and argument lists that are too long. */
#include <sys/stat.h>

#include "probe.h"

static char name[300], path[6000], argument[200 * 1024];

int probe_long_names(int argc, char** argv) {
  (void)argc;
  memset(name, 'n', 255);
  say("name255", open(name, O_WRONLY | O_CREAT, 0600));
  unlink(name);
  memset(name, 'n', 256);
  say("name256", open(name, O_WRONLY | O_CREAT, 0600));
  memset(path, '/', sizeof path - 1);
  say("path", open(path, O_RDONLY));
  memset(argument, 'a', sizeof argument - 1);
  char* const arguments[] = {argv[0], argument, NULL};
  char* const nothing[] = {NULL};
  say("exec", execve("/proc/self/exe", arguments, nothing));
  return 0;
}
