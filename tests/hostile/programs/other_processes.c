/* A34, A35, A55: other processes: pid 1 and everybody at once. */
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>

#include "probe.h"

/* The control attacks a child of its own, which a jail's rows and ids keep it from inside. */
int probe_trace_others(int argc, char** argv) {
  (void)argv;
  pid_t target = 1;
  if (argc > 1 && (target = fork()) == 0) {
    pause();
    _exit(0);
  }
  char byte = 0;
  struct iovec here = {&byte, 1}, there = {(void*)(uintptr_t)&byte, 1};
  say("vm_read", process_vm_readv(target, &here, 1, &there, 1, 0));
  say("vm_write", process_vm_writev(target, &here, 1, &there, 1, 0));
  const int held = (int)syscall(SYS_pidfd_open, target, 0);
  say("pidfd_getfd", syscall(SYS_pidfd_getfd, held, 1, 0));
  say("kcmp", syscall(SYS_kcmp, getpid(), target, 0, 0, 0));
  say("seize", ptrace(PTRACE_SEIZE, target, NULL, NULL));
  struct rlimit limit;
  say("prlimit", prlimit(target, RLIMIT_NOFILE, NULL, &limit));
  if (argc > 1) kill(target, SIGKILL);
  return 0;
}

int probe_memory_of_init(int argc, char** argv) {
  (void)argv;
  char path[64];
  const pid_t target = argc > 1 ? getpid() : 1;
  static const char* const names[] = {"mem", "environ", "maps", "exe", "cwd", "root", "fd/0", "stack"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    snprintf(path, sizeof path, "/proc/%d/%s", target, names[i]);
    say(names[i], open(path, O_RDONLY | O_CLOEXEC));
  }
  return 0;
}

int probe_kill_everybody(int argc, char** argv) {
  (void)argc;
  (void)argv;
  signal(SIGTERM, SIG_IGN);
  const pid_t bystander = fork();
  if (bystander == 0) {
    signal(SIGTERM, SIG_DFL);
    pause();
    _exit(0);
  }
  usleep(50000);
  say("init", kill(1, SIGKILL));
  say("all", kill(-1, SIGTERM));
  int status = 0;
  waitpid(bystander, &status, 0);
  say_number("bystander", WTERMSIG(status));
  say("group", kill(0, SIGTERM));
  return 9;
}
