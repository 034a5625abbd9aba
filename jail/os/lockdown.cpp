#include "jail/os/lockdown.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "jail/os/fd.h"

namespace mayfly {
namespace {

// linux/landlock.h, of which build hosts have an older one than the kernels that we run on.
namespace landlock {
constexpr std::uint64_t kExecute = 1u << 0, kWriteFile = 1u << 1, kReadFile = 1u << 2, kReadDirectory = 1u << 3;
constexpr std::uint64_t kTruncate = 1u << 14;                                   // version 3
constexpr std::uint64_t kDeviceIoctl = 1u << 15;                                // version 5
constexpr std::uint64_t kBindTcp = 1u << 0, kConnectTcp = 1u << 1;              // version 4
constexpr std::uint64_t kAbstractSockets = 1u << 0, kForeignSignals = 1u << 1;  // version 6
constexpr int kRulePathBeneath = 1;
constexpr std::uint32_t kAskVersion = 1;

struct Ruleset {
  std::uint64_t files, network, scoped;
};
struct [[gnu::packed]] PathBeneath {
  std::uint64_t allowed;
  std::int32_t parent;
};

// Every right on files that this version knows.
std::uint64_t all_files(int version) {
  if (version >= 5) return (1u << 16) - 1;
  if (version >= 3) return (1u << 15) - 1;
  if (version >= 2) return (1u << 14) - 1;
  return (1u << 13) - 1;
}

std::size_t size_of_ruleset(int version) {
  if (version >= 6) return sizeof(Ruleset);
  if (version >= 4) return offsetof(Ruleset, scoped);
  return offsetof(Ruleset, network);
}

std::uint64_t rights(Reach::Access access, bool directory, int version) {
  std::uint64_t allowed = kReadFile | kReadDirectory;
  if (access == Reach::Access::Execute) allowed |= kExecute;
  if (access == Reach::Access::Write) allowed = all_files(version) & ~kExecute;
  if (!directory) allowed &= kExecute | kWriteFile | kReadFile | kTruncate | kDeviceIoctl;
  return allowed & all_files(version);
}
}  // namespace landlock

Expected<void> allow_path(int ruleset, const Reach& reach, int version) {
  const Fd place(::open(reach.path.c_str(), O_PATH | O_CLOEXEC));
  if (!place) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return failure("open place that stays reachable", errno, reach.path);
  }
  struct stat about {};
  if (::fstat(place.get(), &about) != 0) return failure("look at place that stays reachable", errno, reach.path);
  const landlock::PathBeneath rule{landlock::rights(reach.access, S_ISDIR(about.st_mode), version), place.get()};
  if (::syscall(__NR_landlock_add_rule, ruleset, landlock::kRulePathBeneath, &rule, 0) != 0) {
    return failure("allow place that stays reachable", errno, reach.path);
  }
  return {};
}

Expected<void> apply_landlock(const LockDown& order) {
  const int version = landlock_version();
  if (version == 0) return {};
  landlock::Ruleset attributes{landlock::all_files(version), 0, 0};
  if (order.tcp == Tcp::None) attributes.network = landlock::kBindTcp | landlock::kConnectTcp;
  attributes.scoped = landlock::kAbstractSockets;
  if (order.signals == Signals::OwnOnly) attributes.scoped |= landlock::kForeignSignals;
  const Fd ruleset(
      static_cast<int>(::syscall(__NR_landlock_create_ruleset, &attributes, landlock::size_of_ruleset(version), 0)));
  if (!ruleset) return failure("make Landlock ruleset", errno);
  if (::fcntl(ruleset.get(), F_SETFD, FD_CLOEXEC) != 0) return failure("keep Landlock ruleset from children", errno);
  for (const Reach& reach : order.reach) TRY(allow_path(ruleset.get(), reach, version));
  if (::syscall(__NR_landlock_restrict_self, ruleset.get(), 0) != 0) return failure("apply Landlock ruleset", errno);
  return {};
}

// abort(3) raises its signal by tgkill; for that alone a process may signal itself, by its own number. In a child made
// later that is denied too, and abort ends by its last resort, a fault.
SyscallRow own_abort() {
  Condition own{Condition::Test::OneOf, 0, 0xffff'ffff, 1, {}};
  own.values[0] = static_cast<std::uint32_t>(::getpid());
  return {MAYFLY_CALL(tgkill), Verdict::Allow, own, "abort raises its signal in the process itself"};
}

Expected<void> apply_filter(const LockDown& order) {
  const std::array last = {own_abort(), SyscallRow{MAYFLY_CALL(tgkill), Verdict::Deny, kAlways, "signals others"}};
  std::vector<SyscallRows> parts(order.calls.begin(), order.calls.end());
  parts.emplace_back(last);
  const std::vector<sock_filter> filter = TRY(compile_filter(Verdict::Absent, parts, 0));
  const int error = load_filter(filter.data(), static_cast<unsigned short>(filter.size()));
  if (error != 0) return failure("load own system call filter", error);
  return {};
}

}  // namespace

int landlock_version() {
  const long version = ::syscall(__NR_landlock_create_ruleset, nullptr, 0, landlock::kAskVersion);
  return version > 0 ? static_cast<int>(version) : 0;
}

Expected<void> lock_down(const LockDown& order) {
  constexpr rlimit kNoCore{0, 0};
  if (::setrlimit(RLIMIT_CORE, &kNoCore) != 0) return failure("give up core files", errno);
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return failure("become undumpable", errno);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failure("give up new privileges", errno);
  if (order.files == FileSystem::Confined) TRY(apply_landlock(order));
  return apply_filter(order);
}

}  // namespace mayfly
