#include "jail/builder/inside/proc_mount.h"

#include <cstring>

#include "jail/builder/mounting.h"

namespace mayfly {

namespace {

// Of the jail's user namespace: nobody in it may make any namespace, whatever a filter lets through (namespaces(7)).
constexpr std::array kNamespaceLimits = {
    "max_user_namespaces", "max_mnt_namespaces", "max_pid_namespaces",    "max_net_namespaces",
    "max_ipc_namespaces",  "max_uts_namespaces", "max_cgroup_namespaces", "max_time_namespaces",
};

void cover(Inside& in, const ProcMask& mask) {
  char target[64] = "/jail/proc/";
  std::strncat(target, mask.path, sizeof target - std::strlen(target) - 1);
  const char* source = mask.kind == MaskKind::Directory ? kEmptyDirectory : kEmptyFile;
  in.check(::mount(source, target, nullptr, MS_BIND, nullptr));
}

}  // namespace

int mount_proc(Inside& in) {
  if (!in.host.proc_available || in.leaves_out(Layer::Proc)) return -1;
  const Fd context(::fsopen("proc", FSOPEN_CLOEXEC));
  in.check(context.get());
  // Who may not be traced is invisible; per mount since Linux 5.8. "invisible" would make an exception for the host's
  // group 0 (proc(5), gid=), which an ordinary user's jails may have.
  in.check(set_option(context.get(), "hidepid", "ptraceable"));
  Fd proc = finish_mount(context.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  in.check(proc.get());
  in.check(attach(proc.get(), AT_FDCWD, "/jail/proc"));
  if (!in.leaves_out(Layer::Masks))
    for (std::uint32_t i = 0; i < in.host.mask_count; ++i) cover(in, in.host.masks[i]);
  return proc.release();
}

void seal_namespaces(Inside& in, int proc) {
  if (proc < 0) return;
  const Fd folder(::openat(proc, "sys/user", O_PATH | O_CLOEXEC));
  in.check(folder.get());
  for (const char* name : kNamespaceLimits) {
    const Fd limit(::openat(folder.get(), name, O_WRONLY | O_CLOEXEC));
    in.check(limit.get());
    in.check(::write(limit.get(), "0", 1));
  }
  in.check(set_attributes(proc, MOUNT_ATTR_RDONLY, 0));
  ::close(proc);
}

}  // namespace mayfly
