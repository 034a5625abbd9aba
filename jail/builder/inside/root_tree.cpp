#include "jail/builder/inside/root_tree.h"

#include <sys/stat.h>

#include "jail/builder/mounting.h"

namespace mayfly {

namespace {

struct Directory {
  const char* path;
  mode_t mode;
};
constexpr std::array kDirectories = {
    Directory{"proc", 0555}, Directory{"tmp", 01777},     Directory{"run", 0755}, Directory{"run/shm", 01777},
    Directory{"home", 0755}, Directory{"home/run", 0700}, Directory{"var", 0755},
};

void make_directories(Inside& in, int root) {
  for (const Directory& directory : kDirectories) in.check(::mkdirat(root, directory.path, directory.mode));
  in.check(::symlinkat("/tmp", root, "var/tmp"));
  for (std::uint32_t i = 0; i < in.host.link_count; ++i)
    in.check(::symlinkat(in.host.links[i].target, root, in.host.links[i].name));
  if (in.host.privilege == Privilege::Root)
    in.check(::fchownat(root, "home/run", kInsideRunUid, kInsideRunUid, AT_SYMLINK_NOFOLLOW));
  const Fd canary(::openat(root, kLandlockCanary + 1, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444));
  in.check(canary.get());
}

void make_mount_point(Inside& in, int root, const TopTree& tree) {
  if (tree.is_directory) {
    in.check(::mkdirat(root, tree.name, 0755));
    return;
  }
  const Fd file(::openat(root, tree.name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444));
  in.check(file.get());
}

}  // namespace

int make_root(Inside& in) {
  const Fd context(::fsopen("tmpfs", FSOPEN_CLOEXEC));
  in.check(context.get());
  if (!in.leaves_out(Layer::RootSize)) in.check(set_option(context.get(), "size", in.plan.disk_bytes));
  if (!in.leaves_out(Layer::RootInodes))
    in.check(set_option(context.get(), "nr_inodes", std::uint64_t{in.plan.inodes}));
  in.check(set_option(context.get(), "mode", "0755"));
  Fd root = finish_mount(context.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  in.check(root.get());
  in.check(attach(root.get(), AT_FDCWD, kJailMount));
  make_directories(in, root.get());
  return root.release();
}

void place_trees(Inside& in, int root) {
  for (std::uint32_t i = 0; i < in.row.count; ++i) {
    make_mount_point(in, root, in.row.trees[i]);
    in.check(attach(in.trees[i], root, in.row.trees[i].name));
    ::close(in.trees[i]);
  }
}

// As switch_root does it: the jail's root is moved onto the builder's, which stays below it, reachable by no path.
// There is nothing in it but empty mount points (private_root.h). pivot_root(2) would look at every thread of the host,
// and detaching would wait for a grace period of RCU; together they cost more than the tmpfs, /proc and all its masks.
void move_onto_root(Inside& in, int root) {
  in.check(::fchdir(root));
  in.check(::mount(".", "/", nullptr, MS_MOVE, nullptr));
  in.check(::chroot("."));
  in.check(::chdir(kHome));
  ::close(root);
}

}  // namespace mayfly
