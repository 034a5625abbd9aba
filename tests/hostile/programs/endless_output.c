/* A21: output without end. */
#include "probe.h"

static char bytes[1 << 16];

int probe_endless_output(int argc, char** argv) {
  const long most = count_from(argc, argv, 1l << 40);
  memset(bytes, 'x', sizeof bytes);
  for (long written = 0; written < most;) {
    const ssize_t count = write(1, bytes, sizeof bytes);
    if (count < 0) return 3;
    written += count;
  }
  return 0;
}
