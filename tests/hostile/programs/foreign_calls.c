/* A49: calls of other architectures. Each is made in a child, whose fate is told. */
#include "probe.h"

static void fate(const char* what, pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    say_text(what, sigabbrev_np(WTERMSIG(status)));
  else
    say_number(what, WEXITSTATUS(status));
}

int probe_foreign_calls(int argc, char** argv) {
  (void)argc;
  (void)argv;
  pid_t child = fork();
  if (child == 0) {
    long result = 20; /* getpid of i386 */
    __asm__ volatile("int $0x80" : "+a"(result) : : "memory", "r8", "r9", "r10", "r11");
    _exit(result > 0 ? 1 : 2);
  }
  fate("int80", child);
  child = fork();
  if (child == 0) {
    long result = 102; /* socketcall of i386: the family lies in memory */
    __asm__ volatile("int $0x80" : "+a"(result) : "b"(1l), "c"(0l) : "memory", "r8", "r9", "r10", "r11");
    _exit(result == -14 || result > 0 ? 1 : 2);
  }
  fate("socketcall", child);
  child = fork();
  if (child == 0) _exit(syscall(0x40000000 | 39) > 0 ? 1 : 2); /* getpid of x32 */
  fate("x32", child);
  return 0;
}
