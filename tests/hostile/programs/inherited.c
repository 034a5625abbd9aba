/* A39, A40, A63: what a program inherits: descriptors, directories, environment, signals, ids, limits. */
#include <dirent.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "probe.h"

extern char** environ;

int probe_inherited_fds(int argc, char** argv) {
  (void)argc;
  (void)argv;
  long open_ones = 0, last = -1;
  for (int fd = 0; fd < 65536; ++fd)
    if (fcntl(fd, F_GETFD) >= 0) {
      ++open_ones;
      last = fd;
    }
  say_number("open", open_ones);
  say_number("last", last);
  struct stat about;
  char what[16];
  for (int fd = 0; fd < 3; ++fd) {
    snprintf(what, sizeof what, "fd%d", fd);
    fstat(fd, &about);
    say_text(what, S_ISFIFO(about.st_mode)   ? "pipe"
                   : S_ISCHR(about.st_mode)  ? "character"
                   : S_ISSOCK(about.st_mode) ? "socket"
                                             : "other");
  }
  char here[256];
  say_text("cwd", getcwd(here, sizeof here) ? here : "outside");
  say("above", open("/..", O_RDONLY | O_DIRECTORY));
  struct stat root, above;
  stat("/", &root);
  stat("/..", &above);
  say_text("root", root.st_ino == above.st_ino && root.st_dev == above.st_dev ? "closed" : "open");
  return 0;
}

int probe_inherited_environment(int argc, char** argv) {
  (void)argc;
  (void)argv;
  long count = 0;
  for (char** entry = environ; *entry; ++entry, ++count) say_text("entry", *entry);
  say_number("count", count);
  return 0;
}

int probe_inherited_attributes(int argc, char** argv) {
  (void)argc;
  (void)argv;
  sigset_t blocked;
  long blocked_count = 0, ignored = 0;
  sigprocmask(SIG_SETMASK, NULL, &blocked);
  for (int number = 1; number < 65; ++number) {
    struct sigaction action;
    if (sigismember(&blocked, number) == 1) ++blocked_count;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN) ++ignored;
  }
  say_number("blocked", blocked_count);
  say_number("ignored", ignored);
  int death = 0, subreaper = 0;
  prctl(PR_GET_PDEATHSIG, &death);
  prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
  say_number("death_signal", death);
  say_number("subreaper", subreaper);
  say_number("new_privileges", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
  say_number("uid", getuid());
  say_number("gid", getgid());
  say_number("groups", getgroups(0, NULL));
  say_number("parent", getppid());
  say_number("nice", getpriority(PRIO_PROCESS, 0));
  const mode_t mask = umask(0);
  say_number("umask", mask);
  struct rlimit limit;
  getrlimit(RLIMIT_CORE, &limit);
  say_number("core", (long)limit.rlim_max);
  getrlimit(RLIMIT_MEMLOCK, &limit);
  say_number("memlock", (long)limit.rlim_max);
  getrlimit(RLIMIT_RTPRIO, &limit);
  say_number("rtprio", (long)limit.rlim_max);
  getrlimit(RLIMIT_NOFILE, &limit);
  say_number("nofile", (long)limit.rlim_max);
  return 0;
}
