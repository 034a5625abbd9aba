#include "jail/builder/outside/root_part.h"

#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "jail/builder/landlock_rights.h"
#include "jail/builder/mounting.h"
#include "jail/builder/root_paths.h"
#include "jail/spec/limits.h"
#include "jail/wire/bind_table.h"

namespace mayfly {

namespace {

struct Directory {
  const char* path;
  mode_t mode;
};
constexpr std::array kDirectories = {
    Directory{"proc", 0555}, Directory{"tmp", 01777},    Directory{"run", 0755}, Directory{"run/shm", 01777},
    Directory{"home", 0755}, Directory{kHome + 1, 0700}, Directory{"var", 0755},
};
// Until its jail is known: enough for what is made here. A tmpfs that began without limits takes none later.
constexpr std::uint64_t kBytesAtFirst = 1u << 20, kInodesAtFirst = 64;

int set_limits(const HostFacts& host, int context, std::uint64_t bytes, std::uint64_t inodes) {
  if (!host.faults.leaves_out(Layer::RootSize) && set_option(context, "size", bytes) != 0) return errno;
  if (!host.faults.leaves_out(Layer::RootInodes) && set_option(context, "nr_inodes", inodes) != 0) return errno;
  return 0;
}

int make_directories(const HostFacts& host, int root) {
  for (const Directory& directory : kDirectories)
    if (::mkdirat(root, directory.path, directory.mode) != 0) return errno;
  if (::symlinkat("/tmp", root, "var/tmp") != 0) return errno;
  for (std::uint32_t i = 0; i < host.link_count; ++i)
    if (::symlinkat(host.links[i].target, root, host.links[i].name) != 0) return errno;
  const Fd canary(::openat(root, kLandlockCanary + 1, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444));
  return canary ? 0 : errno;
}

// Pid 1 makes further mount points in it, the program owns its home. Everything else belongs to nobody inside, as /usr.
int give_away(const HostFacts& host, std::uint32_t slot, int root) {
  if (host.privilege != Privilege::Root) return 0;  // ours, and so the one id's inside
  const std::uint32_t first = host.uid_base + kUidsPerSlot * slot;
  const uid_t init = first + 1, run = first + 2;
  if (::fchownat(root, "", init, init, AT_EMPTY_PATH) != 0) return errno;
  return ::fchownat(root, kHome + 1, run, run, AT_SYMLINK_NOFOLLOW) != 0 ? errno : 0;
}

struct Rule {
  const char* path;
  std::uint64_t rights;
};
// The root itself: listing alone, so that `ls /` works; the canary there stays unreadable.
constexpr std::array kRules = {
    Rule{"tmp", landlock::kOwn},
    Rule{"run/shm", landlock::kOwn},
    Rule{kHome + 1, landlock::kOwn},
};

int make_ruleset(const HostFacts& host, RootPart& part) {
  if (host.landlock_abi == 0) return 0;
  const std::uint64_t handled = landlock::handled_rights(host.landlock_abi);  // landlock_ruleset_attr of ABI 1
  part.ruleset = Fd(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0)));
  if (!part.ruleset) return errno;
  const auto allow = [&](int parent, std::uint64_t rights) {
    return landlock::allow(part.ruleset.get(), host.landlock_abi, parent, rights);
  };
  if (allow(part.tree.get(), landlock::kList) != 0) return errno;
  for (const Rule& rule : kRules) {
    const Fd parent(::openat(part.tree.get(), rule.path, O_PATH | O_CLOEXEC));
    if (!parent || allow(parent.get(), rule.rights) != 0) return errno;
  }
  return 0;
}

std::uint64_t rights_to(const TopTree& tree) {
  if (tree.is_ours && tree.name[0] == 'd') return landlock::kDevices;             // /dev
  return tree.is_directory ? landlock::kRun : landlock::kRun & ~landlock::kList;  // a file takes none of directories
}

// /usr, /etc and further binds: read and execute.
int allow_trees(const HostFacts& host, const PreparedRow& row, int ruleset, const TreeFds& trees) {
  if (ruleset < 0) return 0;
  for (std::uint32_t i = 0; i < row.count; ++i)
    if (row.trees[i].name != std::string_view(kSeedTree) &&
        landlock::allow(ruleset, host.landlock_abi, trees[i], rights_to(row.trees[i])) != 0)
      return errno;
  return 0;
}

}  // namespace

int make_root_part(const HostFacts& host, RootPart& made) {
  made.context = Fd(::fsopen("tmpfs", FSOPEN_CLOEXEC));
  if (!made.context) return errno;
  if (const int error = set_limits(host, made.context.get(), kBytesAtFirst, kInodesAtFirst); error != 0) return error;
  if (set_option(made.context.get(), "mode", "0755") != 0) return errno;
  made.tree = finish_mount(made.context.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  if (!made.tree) return errno;
  if (const int error = make_directories(host, made.tree.get()); error != 0) return error;
  return make_ruleset(host, made);
}

int fit_root(const HostFacts& host, const Plan& plan, const RootPart& root, const TreeFds& trees) {
  const int context = root.context.get();
  if (const int error = set_limits(host, context, plan.disk_bytes, plan.inodes); error != 0) return error;
  if (::fsconfig(context, FSCONFIG_CMD_RECONFIGURE, nullptr, nullptr, 0) != 0) return errno;
  if (const int error = give_away(host, plan.slot, root.tree.get()); error != 0) return error;
  return allow_trees(host, host.rows[plan.bind_row], root.ruleset.get(), trees);
}

}  // namespace mayfly
