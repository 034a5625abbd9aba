/* A07: empty files, hard links and a deep chain of directories. */
#include <sys/stat.h>

#include "probe.h"

int probe_inode_flood(int argc, char** argv) {
  const long most = count_from(argc, argv, 200000);
  long files = 0, depth = 0;
  char name[32];
  if (mkdir("flood", 0700) != 0 || chdir("flood") != 0) return 2;
  while (depth < 1000 && depth < most && mkdir("d", 0700) == 0 && chdir("d") == 0) ++depth;
  int fd = 0;
  for (; files < most; ++files) {
    snprintf(name, sizeof name, "f%ld", files);
    fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) break;
    close(fd);
  }
  say("create", fd);
  say("link", link("f0", "again"));
  say_number("files", files);
  say_number("depth", depth);
  return 0;
}
