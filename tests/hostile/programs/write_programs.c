/* A38: overwriting the programs that run: our own, and pid 1's. */
#include "probe.h"

int probe_write_programs(int argc, char** argv) {
  (void)argc;
  (void)argv;
  say("init_exe", open("/proc/1/exe", O_WRONLY));
  say("init_mem", open("/proc/1/mem", O_RDWR));
  say("usr_bin", open("/usr/bin/env", O_WRONLY));
  say("usr_new", open("/usr/bin/mayfly-probe", O_WRONLY | O_CREAT | O_EXCL, 0700));
  say("etc", open("/etc/passwd", O_WRONLY));
  say("etc_new", open("/etc/ld.so.preload", O_WRONLY | O_CREAT | O_EXCL, 0600));
  say("unlink", unlink("/usr/bin/env"));
  say("rename", rename("/usr/bin/env", "/usr/bin/env2"));
  return 0;
}
