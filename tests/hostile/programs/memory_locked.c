/* A11: memory that cannot be reclaimed: mlock, memfd_secret, huge pages. */
#include <sys/mman.h>

#include "probe.h"

int probe_memory_locked(int argc, char** argv) {
  (void)argc;
  (void)argv;
  const size_t size = 256u << 20;
  void* place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  say("mlock", mlock(place, size));
  say("mlockall", mlockall(MCL_FUTURE));
  munlockall();
  say("memfd_secret", syscall(447, 0));
  const int huge = memfd_create("huge", MFD_HUGETLB);
  say("hugetlb", huge);
  return 0;
}
