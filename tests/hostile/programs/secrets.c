/* A61: files of the host that must be absent, not merely unreadable. */
#include <sys/stat.h>

#include "probe.h"

int probe_secrets(int argc, char** argv) {
  static const char* const paths[] = {"/etc/shadow",      "/etc/gshadow", "/etc/sudoers",   "/etc/ssh",
                                      "/etc/ssl/private", "/root",        "/home/run/.ssh", "/var/lib/mayfly",
                                      "/run/mayfly",      "/etc/mayfly",  "/var/log",       "/boot",
                                      "/lost+found",      "/mnt",         "/srv",           "/opt",
                                      "/var/run/secrets", "/old_root",    "/.dockerenv"};
  struct stat about;
  for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) say(paths[i], lstat(paths[i], &about));
  for (int i = 1; i < argc; ++i) say(argv[i], lstat(argv[i], &about));
  return 0;
}
