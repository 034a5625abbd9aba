/* A03, A04: one process takes memory and touches it. */
#include <sys/mman.h>

#include "probe.h"

int probe_memory_one(int argc, char** argv) {
  const long megabytes = count_from(argc, argv, 4096);
  for (long taken = 0; taken < megabytes; ++taken) {
    char* piece = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED) {
      say("mmap", -1);
      return 1;
    }
    memset(piece, 0x5a, 1 << 20);
  }
  say_number("megabytes", megabytes);
  return 0;
}
