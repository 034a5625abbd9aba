/* A37: mounts and roots through the old calls and the new. The control runs in a mount namespace of its own. */
#include <sys/mount.h>
#include <sys/stat.h>

#include "probe.h"

int probe_mounts(int argc, char** argv) {
  (void)argc;
  (void)argv;
  mkdir("place", 0700);
  say("mount", mount("none", "place", "tmpfs", 0, NULL));
  say("umount", umount2("place", 0));
  const long context = syscall(SYS_fsopen, "tmpfs", 1 /* FSOPEN_CLOEXEC */);
  say("fsopen", context);
  say("fsconfig", syscall(SYS_fsconfig, context, 6 /* FSCONFIG_CMD_CREATE */, 0, 0, 0));
  const long made = syscall(SYS_fsmount, context, 1, 0);
  say("fsmount", made);
  say("move_mount", syscall(SYS_move_mount, made, "", AT_FDCWD, "place", 4 /* MOVE_MOUNT_F_EMPTY_PATH */));
  const long tree = syscall(SYS_open_tree, AT_FDCWD, "/", 1 | O_CLOEXEC);
  say("open_tree", tree);
  uint64_t attributes[4] = {0, 1, 0, 0}; /* clear read-only */
  say("mount_setattr", syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, attributes, sizeof attributes));
  say("fspick", syscall(SYS_fspick, AT_FDCWD, "place", 0));
  say("pivot_root", syscall(SYS_pivot_root, "place", "place"));
  const pid_t child = fork();
  if (child == 0) {
    say("chroot", chroot("place"));
    _exit(0);
  }
  waitpid(child, NULL, 0);
  say("remount", mount(NULL, "/usr", NULL, MS_REMOUNT | MS_BIND, NULL));
  umount2("place", MNT_DETACH);
  rmdir("place");
  return 0;
}
