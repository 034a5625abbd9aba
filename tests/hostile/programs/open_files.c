/* A12: descriptors until the limit, in this process and in many. */
#include "probe.h"

static long fill(long most) {
  long opened = 0;
  while (opened < most && open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) ++opened;
  return opened;
}

int probe_open_files(int argc, char** argv) {
  const long most = count_from(argc, argv, 100000);
  const long mine = fill(most);
  say("open", mine < most ? -1 : 0);
  say_number("opened", mine);
  long children = 0;
  for (; children < 20; ++children) {
    const pid_t child = fork();
    if (child < 0) break;
    if (child == 0) {
      fill(most);
      usleep(100000);
      _exit(0);
    }
  }
  reap_all();
  say_number("children", children);
  return 0;
}
