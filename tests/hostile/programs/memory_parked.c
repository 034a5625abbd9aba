/* A06, A11: memory parked in memfds and shared memory instead of the heap. */
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "probe.h"

static char page[1 << 16];

int probe_memory_memfd(int argc, char** argv) {
  const long megabytes = count_from(argc, argv, 4096);
  int fd = -1;
  memset(page, 0x5a, sizeof page);
  for (long i = 0; i < megabytes * 16; ++i) {
    if (i % 256 == 0) fd = memfd_create("parked", MFD_CLOEXEC); /* 16 MiB each: below every limit of one file */
    if (write(fd, page, sizeof page) < 0) {
      say("write", -1);
      return 1;
    }
  }
  say_number("megabytes", megabytes);
  return 0;
}

int probe_memory_shm(int argc, char** argv) {
  const long megabytes = count_from(argc, argv, 4096);
  for (long i = 0; i < megabytes; ++i) {
    const int id = shmget(IPC_PRIVATE, 1 << 20, IPC_CREAT | 0600);
    if (id < 0) {
      say("shmget", -1);
      return 1;
    }
    char* place = shmat(id, NULL, 0);
    if (place == (void*)-1) {
      say("shmat", -1);
      return 1;
    }
    memset(place, 0x5a, 1 << 20);
    shmdt(place); /* the segment stays */
    if (argc > 1) shmctl(id, IPC_RMID, NULL);
  }
  say_number("megabytes", megabytes);
  return 0;
}
