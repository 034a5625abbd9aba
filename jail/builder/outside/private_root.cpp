#include "jail/builder/outside/private_root.h"

#include <sched.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "jail/builder/mounting.h"

namespace mayfly {

namespace {

Expected<void> write_own(const char* path, const std::string& text) {
  const Fd file(::open(path, O_WRONLY | O_CLOEXEC));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return failure("write own id map", errno, path);
  return {};
}

// A jail's uts namespace starts as a copy of ours: named once, here, for all of them.
Expected<void> name_host() {
  if (::sethostname("mayfly", 6) != 0) return failure("set the host name of jails", errno);
  if (::setdomainname("(none)", 6) != 0) return failure("set the domain name of jails", errno);  // the kernel's default
  return {};
}

// Rootless: a user namespace of our own in which we are ourselves, with every capability over what it owns.
Expected<void> enter_namespaces(Privilege privilege) {
  const std::string uid = std::to_string(::geteuid()), gid = std::to_string(::getegid());
  const int user = privilege == Privilege::Rootless ? CLONE_NEWUSER : 0;
  // The network namespace keeps our nsids apart from those of the host and of other instances.
  if (::unshare(user | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWUTS) != 0)
    return failure("enter namespaces of the builder", errno);
  if (privilege == Privilege::Root) return {};
  TRY(write_own("/proc/self/setgroups", "deny"));  // user_namespaces(7): before gid_map, without privilege
  TRY(write_own("/proc/self/uid_map", uid + " " + uid + " 1\n"));
  return write_own("/proc/self/gid_map", gid + " " + gid + " 1\n");
}

Expected<Fd> make_root_tmpfs() {
  const Fd context(::fsopen("tmpfs", FSOPEN_CLOEXEC));
  if (!context) return failure("open tmpfs for the builder's root", errno);
  set_option(context.get(), "mode", "0755");
  set_option(context.get(), "size", "1m");
  Fd root = finish_mount(context.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (!root) return failure("mount the builder's root", errno);
  return root;
}

Expected<void> make_layout(int root) {
  for (const char* path : {"trees", "proc", "jail", "empty"})
    if (::mkdirat(root, path, 0755) != 0) return failure("make directory of the builder's root", errno, path);
  if (::mkdirat(root, "empty/directory", 0555) != 0) return failure("make empty directory", errno);
  const Fd file(::openat(root, "empty/file", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0));
  if (!file) return failure("make empty file", errno);
  return {};
}

Expected<Fd> open_reference(const char* path) {
  Fd fd(::open(path, O_RDONLY | O_CLOEXEC));
  if (!fd) return failure("open", errno, path);
  return fd;
}

}  // namespace

Expected<PrivateRoot> PrivateRoot::make(Privilege privilege) {
  PrivateRoot made;
  ::umask(0);
  made.host_network_ = TRY(open_reference("/proc/self/ns/net"));
  TRY(enter_namespaces(privilege));
  TRY(name_host());
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return failure("make mounts of the builder private", errno);
  made.host_proc_ = TRY(open_reference("/proc"));
  made.network_ = TRY(open_reference("/proc/self/ns/net"));
  made.root_ = TRY(make_root_tmpfs());
  TRY(make_layout(made.root_.get()));
  return made;
}

Expected<void> PrivateRoot::attach() {
  // Every host has /usr, and what we need of it was opened before.
  if (mayfly::attach(root_.get(), AT_FDCWD, "/usr") != 0) return failure("attach the builder's root", errno);
  return {};
}

Expected<void> PrivateRoot::enter() {
  // pivot_root(2), "." onto ".": the old root ends up below the new one, and is detached there.
  if (::fchdir(root_.get()) != 0) return failure("enter the builder's root", errno);
  if (change_root(".", ".") != 0) return failure("pivot into the builder's root", errno);
  if (::umount2(".", MNT_DETACH) != 0) return failure("detach the host's tree", errno);
  if (::chdir("/") != 0) return failure("enter the builder's root at", errno, "/");
  if (set_attributes(root_.get(), MOUNT_ATTR_RDONLY, 0) != 0)
    return failure("make the builder's root read-only", errno);
  return {};
}

}  // namespace mayfly
