/* A05, A15: kernel memory in pipes: as many as go, enlarged where that goes, all full. */
#include "probe.h"

static char bytes[4096];

int probe_pipe_memory(int argc, char** argv) {
  const long most = count_from(argc, argv, 4000);
  long made = 0, enlarged = 0, kept = 0;
  int ends[2];
  while (made < most && pipe2(ends, O_NONBLOCK) == 0) {
    if (made == 0) say("setpipe", fcntl(ends[1], F_SETPIPE_SZ, 1 << 20));
    if (fcntl(ends[1], F_GETPIPE_SZ) > 65536) ++enlarged;
    ssize_t count = 0;
    while ((count = write(ends[1], bytes, sizeof bytes)) > 0) kept += count;
    ++made;
  }
  say("pipe", made < most ? -1 : 0);
  say_number("made", made);
  say_number("enlarged", enlarged);
  say_number("kilobytes", kept >> 10);
  return 0;
}
