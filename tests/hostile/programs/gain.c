/* A59: gaining ids: setuid files, file capabilities, setuid and setgroups. */
#include <grp.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "probe.h"

int probe_gain(int argc, char** argv) {
  (void)argc;
  (void)argv;
  say("setuid0", setresuid(0, 0, 0));
  say("setuid999", setresuid(999, 999, 999));
  say("setgid0", setresgid(0, 0, 0));
  const gid_t root = 0;
  say("setgroups", setgroups(1, &root));
  static const char* const places[] = {"/", "/usr", "/home/run", "/tmp", "/dev/shm", "/proc", "/dev", "/etc"};
  char what[64];
  for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
    struct statvfs about;
    if (statvfs(places[i], &about) != 0) continue;
    snprintf(what, sizeof what, "flags.%s", places[i]);
    const int plain = (about.f_flag & ST_NOSUID) != 0;
    say_text(what, plain ? "nosuid" : "suid");
  }
  const int fd = open("tool", O_WRONLY | O_CREAT, 0700);
  say("chmod", fchmod(fd, 04755));
  const unsigned char capability[20] = {1, 0, 0, 2, 0xff, 0xff, 0xff, 0xff};
  say("setxattr", fsetxattr(fd, "security.capability", capability, sizeof capability, 0));
  unlink("tool");
  return 0;
}
