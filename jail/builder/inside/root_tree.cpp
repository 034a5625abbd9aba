#include "jail/builder/inside/root_tree.h"

#include <sys/stat.h>

#include "jail/builder/mounting.h"
#include "jail/builder/root_paths.h"

namespace mayfly {

namespace {

void make_mount_point(Inside& in, const TopTree& tree) {
  if (tree.is_directory) {
    in.check(::mkdirat(in.root, tree.name, 0755));
    return;
  }
  const Fd file(::openat(in.root, tree.name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444));
  in.check(file.get());
}

}  // namespace

void place_root(Inside& in) { in.check(attach(in.root, AT_FDCWD, kJailMount)); }

void place_trees(Inside& in) {
  for (std::uint32_t i = 0; i < in.row.count; ++i) {
    make_mount_point(in, in.row.trees[i]);
    in.check(attach(in.trees[i], in.root, in.row.trees[i].name));
    ::close(in.trees[i]);
  }
}

// As switch_root does it: the jail's root is moved onto the builder's, which stays below it, reachable by no path.
// There is nothing in it but empty mount points (private_root.h). pivot_root(2) would look at every thread of the host,
// and detaching would wait for a grace period of RCU; together they cost more than the tmpfs, /proc and all its masks.
void move_onto_root(Inside& in) {
  in.check(::fchdir(in.root));
  in.check(::mount(".", "/", nullptr, MS_MOVE, nullptr));
  in.check(::chroot("."));
  in.check(::chdir(kHome));
  ::close(in.root);
}

}  // namespace mayfly
