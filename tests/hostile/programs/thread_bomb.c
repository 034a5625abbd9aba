/* A01: threads until the limit says no. Raw clone, so that no memory of libc's runs out before. */
#include <sched.h>
#include <sys/mman.h>

#include "probe.h"

static int sleeper(void* nothing) {
  (void)nothing;
  for (;;) pause();
  return 0;
}

int probe_thread_bomb(int argc, char** argv) {
  const long most = count_from(argc, argv, 20000);
  const size_t size = 4096 * 2;
  long made = 0;
  int thread = 1;
  while (made < most) {
    char* stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) break;
    thread = clone(sleeper, stack + size,
                   CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, NULL);
    if (thread < 0) break;
    ++made;
  }
  say("clone", thread);
  say_number("made", made);
  return 0;
}
