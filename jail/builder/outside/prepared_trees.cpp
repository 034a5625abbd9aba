#include "jail/builder/outside/prepared_trees.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "jail/builder/mounting.h"
#include "jail/builder/outside/etc_tree.h"
#include "jail/builder/outside/tree_copy.h"
#include "jail/os/log.h"

namespace mayfly {

namespace {

constexpr unsigned kCopyTree = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE;
constexpr unsigned kUsrAttributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr unsigned kDevAttributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;

bool is_at_top(const std::string& target) { return target.find('/') == std::string::npos; }

bool is_directory(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
}

// Makes an empty directory or file at `path`, whose parents exist or are made. What is there already stays.
Expected<void> make_mount_point(int directory, const std::string& path, bool as_directory) {
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1))
    ::mkdirat(directory, path.substr(0, slash).c_str(), 0755);  // a failure shows at the last component
  if (as_directory) {
    if (::mkdirat(directory, path.c_str(), 0755) != 0 && errno != EEXIST)
      return failure("make mount point", errno, path);
    return {};
  }
  const Fd file(::openat(directory, path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0444));
  if (!file && ::faccessat(directory, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) != 0)
    return failure("make mount point for a file", errno, path);
  return {};
}

Expected<void> attach_at(int tree, int directory, const std::string& path) {
  if (attach(tree, directory, path.c_str()) != 0) return failure("attach prepared tree", errno, path);
  return {};
}

// Covers `path` with an empty file or directory that nobody may open. Absent: nothing to hide.
Expected<void> cover(int root, const std::string& path) {
  const Fd target(::openat(root, path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!target) return errno == ENOENT ? Expected<void>{} : failure("look at path to hide", errno, path);
  struct stat status {};
  if (::fstat(target.get(), &status) != 0) return failure("look at type of path to hide", errno, path);
  if (S_ISLNK(status.st_mode)) return failure("hide path", ELOOP, path, "a symlink cannot be covered");
  const char* empty = S_ISDIR(status.st_mode) ? "empty/directory" : "empty/file";
  const Fd mask(::open_tree(root, empty, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
  if (!mask) return failure("copy empty mask for", errno, path);
  if (set_attributes(mask.get(), kUsrAttributes | MOUNT_ATTR_NOEXEC, 0) != 0)
    return failure("restrict mask of", errno, path);
  if (attach(mask.get(), root, path.c_str()) != 0) return failure("cover hidden path", errno, path);
  return {};
}

bool is_of_a_profile(const BindEntry& entry) {
  const std::string_view target(entry.target);
  return target == kDataTree || target == kSeedTree;
}

// A copy of what is mounted there; none, with errno. The folders of a profile were judged by the keeper, which found no
// symlink on their way: what has become one since is not followed (openat2(2)). What is mounted below them stays away:
// it may be a /dev or a /run.
Fd open_source(const BindEntry& entry) {
  if (!is_of_a_profile(entry)) return Fd(::open_tree(AT_FDCWD, entry.source, kCopyTree));
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const Fd folder(static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, entry.source, &how, sizeof how)));
  if (!folder) return {};
  return Fd(::open_tree(folder.get(), "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH));
}

}  // namespace

Expected<PreparedTrees::Row> PreparedTrees::open_row(const BindRow& row) {
  Row opened;
  for (std::uint32_t i = 0; i < row.count; ++i) {
    const BindEntry& entry = row.entries[i];
    Fd source(open_source(entry));
    if (!source && errno == ENOENT && entry.optional != 0) continue;
    if (!source && is_of_a_profile(entry)) {
      opened.error = errno;
      log_failure("builder.no_folder", failure("bind", errno, entry.source).value());
      continue;
    }
    if (!source) return failure("bind", errno, entry.source);
    const bool directory = is_directory(source.get());
    opened.binds.push_back({entry.target, entry.source, std::move(source), directory});
  }
  for (std::uint32_t i = 0; i < row.hide_count; ++i) opened.hidden.emplace_back(row.hide[i].data());
  return opened;
}

Expected<PreparedTrees> PreparedTrees::open(const BindTable& table) {
  PreparedTrees trees;
  for (std::uint32_t i = 0; i < table.row_count; ++i) trees.rows_.push_back(TRY(open_row(table.rows[i])));
  trees.etc_ = TRY(make_etc_tree());
  trees.dev_ = TRY(make_dev_tree());
  return trees;
}

Expected<void> PreparedTrees::attach_bases(int root) {
  TRY(make_mount_point(root, "trees/etc", true));
  TRY(attach_at(etc_.get(), root, "trees/etc"));
  TRY(make_mount_point(root, "trees/dev", true));
  TRY(attach_at(dev_.tree.get(), root, "trees/dev"));
  return attach_devices(dev_, dev_.tree.get());
}

Expected<void> PreparedTrees::assemble(int root) {
  TRY(attach_bases(root));
  for (std::size_t i = 0; i < rows_.size(); ++i) TRY(assemble_row(root, rows_[i], "trees/" + std::to_string(i) + "/"));
  return {};
}

Expected<void> PreparedTrees::assemble_row(int root, const Row& row, const std::string& folder) {
  for (const char* base : {"etc", "dev"}) {
    const Fd copy(::open_tree(root, (std::string("trees/") + base).c_str(), kCopyTree));
    if (!copy) return failure("copy base tree", errno, base);
    TRY(make_mount_point(root, folder + base, true));
    TRY(attach_at(copy.get(), root, folder + base));
  }
  for (const bool at_top : {true, false}) {  // what lies below another tree comes after it
    for (const Bind& bind : row.binds) {
      if (is_at_top(bind.target) != at_top) continue;
      TRY(make_mount_point(root, folder + bind.target, bind.is_directory));
      TRY(attach_at(bind.source.get(), root, folder + bind.target));
    }
  }
  for (const std::string& path : row.hidden) TRY(cover(root, folder + path));
  return {};
}

Expected<void> PreparedTrees::finish(HostFacts& facts) {
  for (std::size_t i = 0; i < rows_.size(); ++i)
    TRY(finish_row(rows_[i], "/trees/" + std::to_string(i) + "/", facts.faults, facts.rows[i]));
  facts.row_count = static_cast<std::uint32_t>(rows_.size());
  ::umount2("/trees/etc", MNT_DETACH);
  ::umount2("/trees/dev", MNT_DETACH);
  return {};
}

namespace {

// Since Linux 6.15 a detached tree can be copied again, or be a layer; before, it has to stay attached in our
// namespace, and every jail then starts with a copy of it that it has to drop.
Fd detach_where_possible(const std::string& path, TopTree tree, Fd attached) {
  Fd detached(::open_tree(attached.get(), "", kCopyTree | AT_EMPTY_PATH));
  if (!detached) return attached;
  tree.source = detached.get();
  if (!copy_tree(tree)) return attached;
  ::umount2(path.c_str(), MNT_DETACH);
  return detached;
}

// What the mount that a folder was opened from forbids stays forbidden: an overlay does not take it from its layers.
unsigned inherited_attributes(int folder) {
  struct statvfs status {};
  return ::fstatvfs(folder, &status) == 0 && (status.f_flag & ST_NOEXEC) == 0 ? 0 : MOUNT_ATTR_NOEXEC;
}

std::string why_no_overlay(int error) {
  if (error == ENODEV) return "this kernel has no overlayfs: modprobe overlay";
  if (error == EPERM) return "this kernel gives an ordinary user no overlayfs: Linux 5.11 or later does";
  return "its file system cannot be a layer of an overlay: put the folder on another one";
}

// A kernel may refuse: then no jail has the folder, rather than one in which its sockets can be reached.
void try_overlay(const TopTree& tree, const std::string& path, PreparedRow& prepared) {
  if (copy_tree(tree)) return;
  prepared.error = errno;
  log_failure("builder.no_folder", failure("show through an overlay", errno, path, why_no_overlay(errno)).value());
}

Expected<void> finish_top(const std::string& folder, const std::string& name, const Faults& faults,
                          PreparedRow& prepared) {
  if (prepared.count == PreparedRow::kMostTrees) return failure("prepare tree", ENOSPC, name);
  TopTree& top = prepared.trees[prepared.count++];
  if (name.size() >= sizeof top.name) return failure("prepare tree", ENAMETOOLONG, name);
  std::memcpy(top.name, name.c_str(), name.size() + 1);
  top.is_ours = name == "etc" || name == "dev";
  Fd attached(::open((folder + name).c_str(), O_PATH | O_CLOEXEC));
  if (!attached) return failure("open prepared tree", errno, name);
  top.is_directory = is_directory(attached.get());
  unsigned attributes = name == "dev" ? kDevAttributes : kUsrAttributes;
  if (faults.leaves_out(Layer::ReadOnly)) attributes &= ~unsigned{MOUNT_ATTR_RDONLY};
  if (set_attributes(attached.get(), attributes, AT_RECURSIVE) != 0)
    return failure("make prepared tree read-only", errno, name);
  top.is_overlaid = name == kDataTree && !faults.leaves_out(Layer::Overlay);
  top.attributes = attributes | inherited_attributes(attached.get());
  top.source = detach_where_possible(folder + name, top, std::move(attached)).release();  // for the life of the process
  return {};
}

}  // namespace

Expected<void> PreparedTrees::finish_row(const Row& row, const std::string& folder, const Faults& faults,
                                         PreparedRow& prepared) {
  prepared.error = row.error;
  for (const Bind& bind : row.binds)
    if (is_at_top(bind.target)) {
      TRY(finish_top(folder, bind.target, faults, prepared));
      const TopTree& made = prepared.trees[prepared.count - 1];
      if (made.is_overlaid) try_overlay(made, bind.path, prepared);
    }
  TRY(finish_top(folder, "etc", faults, prepared));
  return finish_top(folder, "dev", faults, prepared);
}

}  // namespace mayfly
