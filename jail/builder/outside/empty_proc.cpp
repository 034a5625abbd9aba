#include "jail/builder/outside/empty_proc.h"

#include <sched.h>
#include <sys/wait.h>

#include <cerrno>

#include "jail/builder/mounting.h"

namespace mayfly {

namespace {

// In the only process that the namespace ever has. Its exit status is the errno.
int mount_proc_at(int root_directory) {
  const Fd context(::fsopen("proc", FSOPEN_CLOEXEC));
  if (!context) return errno;
  const Fd proc = finish_mount(context.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (!proc) return errno;
  return attach(proc.get(), root_directory, "proc") == 0 ? 0 : errno;
}

}  // namespace

Expected<void> mount_empty_proc(int root_directory) {
  // No signal at its end: SIGCHLD is ignored here, and would take the status with it.
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, CLONE_NEWPID, nullptr, nullptr, nullptr, 0L));
  if (child < 0) return failure("make an empty pid namespace", errno);
  if (child == 0) ::_exit(mount_proc_at(root_directory));
  int status = 0;
  if (::waitpid(child, &status, __WALL) != child) return failure("wait for the mount of the empty procfs", errno);
  if (!WIFEXITED(status)) return failure("mount the empty procfs", EIO);
  if (WEXITSTATUS(status) != 0) return failure("mount the empty procfs", WEXITSTATUS(status));
  return {};
}

}  // namespace mayfly
