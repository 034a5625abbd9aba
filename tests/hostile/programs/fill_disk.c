/* A06: fills every place that can be written to, one after the other. */
#include <sys/stat.h>

#include "probe.h"

static char bytes[1 << 16];

static long fill(const char* folder, long most) {
  char path[256];
  snprintf(path, sizeof path, "%s/fill-%d", folder, getpid());
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    say(folder, -1);
    return 0;
  }
  long written = 0;
  ssize_t count = 0;
  while (written < most && (count = write(fd, bytes, sizeof bytes)) > 0) written += count;
  say(folder, count);
  close(fd);
  if (most < (1l << 30)) unlink(path);
  return written;
}

int probe_fill_disk(int argc, char** argv) {
  static const char* const folders[] = {".", "/tmp", "/dev/shm", "/dev",  "/dev/mqueue", "/run",
                                        "/", "/etc", "/usr",     "/proc", "/var/tmp"};
  const long most = count_from(argc, argv, 4l << 30);
  long sum = 0;
  memset(bytes, 1, sizeof bytes);
  for (size_t i = 0; i < sizeof folders / sizeof *folders; ++i) sum += fill(folders[i], most);
  say_number("megabytes", sum >> 20);
  return 0;
}
