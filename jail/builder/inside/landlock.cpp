#include "jail/builder/inside/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "jail/builder/root_paths.h"
#include "jail/os/fd.h"

namespace mayfly {

namespace {

// Where the build host's headers are older than the kernel.
constexpr std::uint64_t kTruncate = 1ull << 14;     // ABI 3
constexpr std::uint64_t kDeviceIoctl = 1ull << 15;  // ABI 5

constexpr std::uint32_t kQuietBeforeExec = 1;  // ABI 7: LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF

constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kRun = kRead | LANDLOCK_ACCESS_FS_EXECUTE;
constexpr std::uint64_t kMakeNodes = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;
constexpr std::uint64_t kOwn =  // everything but device nodes
    kRun | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
    LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER | kTruncate;
constexpr std::uint64_t kDevices = kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kDeviceIoctl;

// What the probed ABI knows. Network rights (ABI 4) are not handled: the only network is lo, which programs may use.
// Scopes (ABI 6) are not set: signals and abstract sockets end at the pid and network namespaces of the jail anyway.
std::uint64_t handled_rights(std::uint32_t abi) {
  std::uint64_t rights = kOwn | kMakeNodes | kDeviceIoctl;
  if (abi < 2) rights &= ~std::uint64_t{LANDLOCK_ACCESS_FS_REFER};
  if (abi < 3) rights &= ~kTruncate;
  if (abi < 5) rights &= ~kDeviceIoctl;
  return rights;
}

struct Rule {
  const char* path;
  std::uint64_t rights;
};
// "/": listing alone, so that `ls /` works; the canary there stays unreadable.
constexpr std::array kRules = {
    Rule{"/", LANDLOCK_ACCESS_FS_READ_DIR},
    Rule{"/proc", kRead},
    Rule{"/dev", kDevices},
    Rule{"/tmp", kOwn},
    Rule{"/run/shm", kOwn},
    Rule{kHome, kOwn},
};

void allow(Inside& in, int ruleset, const char* path, std::uint64_t rights) {
  const Fd parent(::open(path, O_PATH | O_CLOEXEC));
  in.check(parent.get());
  const landlock_path_beneath_attr beneath{rights & handled_rights(in.host.landlock_abi), parent.get()};
  in.check(::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0));
}

// /usr, /etc and further binds: read and execute. A bound file takes no rights of directories.
void allow_trees(Inside& in, int ruleset) {
  for (std::uint32_t i = 0; i < in.row.count; ++i) {
    const TopTree& tree = in.row.trees[i];
    char path[sizeof tree.name + 1] = "/";
    for (std::size_t at = 0; tree.name[at] != '\0'; ++at) path[at + 1] = tree.name[at];
    const std::uint64_t rights = tree.is_directory ? kRun : kRun & ~std::uint64_t{LANDLOCK_ACCESS_FS_READ_DIR};
    if (tree.name[0] != 'd' || !tree.is_ours) allow(in, ruleset, path, rights);  // /dev has a rule of its own
  }
}

}  // namespace

void confine_files(Inside& in) {
  if (in.host.landlock_abi == 0 || in.leaves_out(Layer::Landlock)) return;
  const std::uint64_t handled = handled_rights(in.host.landlock_abi);  // landlock_ruleset_attr of ABI 1
  const Fd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0)));
  in.check(ruleset.get());
  for (const Rule& rule : kRules) allow(in, ruleset.get(), rule.path, rule.rights);
  allow_trees(in, ruleset.get());
  // Our own proof below would be a line in the audit log of every jail; what the program is denied is not logged.
  const std::uint32_t flags = in.host.landlock_abi >= 7 ? kQuietBeforeExec : 0;
  in.check(::syscall(SYS_landlock_restrict_self, ruleset.get(), flags));
}

int prove_landlock() {
  const Fd canary(::open(kLandlockCanary, O_RDONLY | O_CLOEXEC));
  return canary ? 0 : errno;
}

}  // namespace mayfly
