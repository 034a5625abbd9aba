#include "jail/builder/outside/tree_copy.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "jail/builder/mounting.h"

namespace mayfly {

namespace {

constexpr unsigned kCopyTree = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH;

// Without an upper layer two lower ones are the least. Relative: no path leads to a detached mount, and none is shown
// in a jail's mountinfo.
constexpr const char* kLayers = ".:/empty/directory";
static_assert(std::string_view(kLayers).substr(2) == kEmptyDirectory);

// What a kernel may have switched on by default, and nobody has asked for: following what is written in the folder's
// own attributes. With xino=auto Linux 6.1 writes a line into its log for each mount.
constexpr std::pair<const char*, const char*> kOptions[] = {
    {"lowerdir", kLayers}, {"redirect_dir", "nofollow"}, {"metacopy", "off"},
    {"index", "off"},      {"nfs_export", "off"},        {"xino", "off"},
};

class InDirectory {
 public:
  explicit InDirectory(int directory) : error_(::fchdir(directory) != 0 ? errno : 0) {}
  InDirectory(const InDirectory&) = delete;
  InDirectory& operator=(const InDirectory&) = delete;
  ~InDirectory() {
    // Staying would clone jails with a working directory of the host's.
    if (::chdir("/") != 0) ::_exit(1);
  }
  [[nodiscard]] int error() const { return error_; }

 private:
  int error_;
};

// Over a directory that has been removed the kernel lays an overlay as over any other, and shows nothing in it.
int still_there(int directory) {
  struct stat status {};
  if (::fstat(directory, &status) != 0) return errno;
  return status.st_nlink == 0 ? ENOENT : 0;
}

Fd overlay(const TopTree& tree) {
  const Fd context(::fsopen("overlay", FSOPEN_CLOEXEC));
  if (!context) return {};
  for (const auto& [key, value] : kOptions)
    if (set_option(context.get(), key, value) != 0) return {};
  return finish_mount(context.get(), tree.attributes);
}

}  // namespace

Fd copy_tree(const TopTree& tree) {
  if (!tree.is_overlaid) return Fd(::open_tree(tree.source, "", kCopyTree));
  Fd made;
  int error = 0;
  {
    const InDirectory layer(tree.source);
    error = layer.error();
    if (error == 0) error = still_there(tree.source);
    if (error == 0) made = overlay(tree);
    if (error == 0 && !made) error = errno;
  }
  errno = error;
  return made;
}

}  // namespace mayfly
