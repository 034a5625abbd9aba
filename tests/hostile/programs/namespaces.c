/* A36: namespaces through every call that makes or joins one. */
#include <linux/sched.h>
#include <sched.h>

#include "probe.h"

int probe_namespaces(int argc, char** argv) {
  (void)argc;
  (void)argv;
  static const struct {
    const char* name;
    unsigned long flag;
  } kinds[] = {{"mnt", CLONE_NEWNS},    {"cgroup", CLONE_NEWCGROUP}, {"uts", CLONE_NEWUTS}, {"ipc", CLONE_NEWIPC},
               {"user", CLONE_NEWUSER}, {"pid", CLONE_NEWPID},       {"net", CLONE_NEWNET}};
  char what[32];
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    const long child = syscall(SYS_clone, kinds[i].flag | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    snprintf(what, sizeof what, "clone.%s", kinds[i].name);
    say(what, child);
    const pid_t other = fork();
    if (other == 0) {
      snprintf(what, sizeof what, "unshare.%s", kinds[i].name);
      say(what, unshare((int)kinds[i].flag));
      _exit(0);
    }
    waitpid(other, NULL, 0);
  }
  struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
  const long child = syscall(SYS_clone3, &args, sizeof args);
  if (child == 0) _exit(0);
  say("clone3", child);
  const int own = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
  say("open_ns", own);
  say("setns", setns(own, 0));
  reap_all();
  return 0;
}
