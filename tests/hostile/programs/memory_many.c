/* A03: the same spread over many processes, each of them small. */
#include <sys/mman.h>

#include "probe.h"

int probe_memory_many(int argc, char** argv) {
  const long megabytes = count_from(argc, argv, 64);
  long made = 0;
  for (; made < 40; ++made) {
    const pid_t child = fork();
    if (child < 0) break;
    if (child == 0) {
      char* mine = mmap(NULL, (size_t)megabytes << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (mine != MAP_FAILED) memset(mine, 0x5a, (size_t)megabytes << 20);
      usleep(1000000);
      _exit(0);
    }
  }
  say_number("made", made);
  say_number("reaped", reap_all());
  return 0;
}
