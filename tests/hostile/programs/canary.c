/* The neighbour: answers each byte of its input with the same byte, until its input ends. */
#include "probe.h"

int probe_canary(int argc, char** argv) {
  (void)argc;
  (void)argv;
  char byte = 0;
  while (read(0, &byte, 1) == 1)
    if (write(1, &byte, 1) != 1) return 1;
  return 0;
}
