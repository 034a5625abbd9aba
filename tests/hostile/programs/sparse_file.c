/* A08: a file that says it is enormous. */
#include <sys/stat.h>

#include "probe.h"

int probe_sparse_file(int argc, char** argv) {
  (void)argc;
  (void)argv;
  signal(SIGXFSZ, SIG_IGN);
  const int fd = open("huge", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  say("truncate", ftruncate(fd, 1ll << 40));
  struct stat about;
  fstat(fd, &about);
  say_number("blocks", (long)about.st_blocks);
  unlink("huge");
  return 0;
}
