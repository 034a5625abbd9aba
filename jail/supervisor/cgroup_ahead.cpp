// Groups made ahead, and what HierarchyHost does with them.
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "jail/supervisor/cgroup_group.h"

namespace mayfly {
namespace {

constexpr std::size_t kFirstTarget = 4;  // kept of limits that were asked for once; doubles whenever none was ready
constexpr std::size_t kMostSets = 8;     // different limits that are remembered
constexpr int kMostNames = 64;           // names tried before giving up

}  // namespace

AheadGroups::Set& AheadGroups::set_of(const GroupLimits& limits) {
  const auto found = std::find_if(sets_.begin(), sets_.end(), [&](const Set& s) { return s.limits == limits; });
  if (found == sets_.end()) {
    if (sets_.size() == kMostSets) sets_.pop_back();
    sets_.insert(sets_.begin(), Set{limits, 0, {}});
  } else {
    std::rotate(sets_.begin(), found, found + 1);
  }
  return sets_.front();
}

std::unique_ptr<JailGroup> AheadGroups::take(const GroupLimits& limits) {
  Set& set = set_of(limits);
  if (set.ready.empty()) {
    set.target = set.target == 0 ? kFirstTarget : std::min<std::size_t>(set.target * 2, kGroupsAhead);
    return nullptr;
  }
  std::unique_ptr<JailGroup> group = std::move(set.ready.back());
  set.ready.pop_back();
  return group;
}

void AheadGroups::expect(const GroupLimits& limits) {
  Set& set = set_of(limits);
  set.target = std::max(set.target, kFirstTarget);
}

const GroupLimits* AheadGroups::wanted() const {
  std::size_t total = 0;
  for (const Set& set : sets_) total += set.ready.size();
  if (total >= kGroupsAhead) return nullptr;
  for (const Set& set : sets_)
    if (set.ready.size() < set.target) return &set.limits;
  return nullptr;
}

void AheadGroups::put(const GroupLimits& limits, std::unique_ptr<JailGroup> group) {
  for (Set& set : sets_)
    if (set.limits == limits) return set.ready.push_back(std::move(group));
}

Expected<std::unique_ptr<JailGroup>> HierarchyHost::build_named(const std::string& stem, const GroupLimits& limits) {
  for (int i = 0; i < kMostNames; ++i) {
    auto built = build(stem + std::to_string(++serial_), limits);
    if (built || built.error().error != EEXIST) return built;
  }
  return failure("find a free group name", EEXIST, stem);
}

Expected<JailCgroup> HierarchyHost::make(std::uint32_t slot, const GroupLimits& limits) {
  if (may_make_ahead_)
    if (auto ready = ahead_.take(limits)) return JailCgroup(std::move(ready));
  return JailCgroup(TRY(build_named(std::to_string(slot) + "-", limits)));
}

bool HierarchyHost::refill(std::uint32_t most) {
  if (!may_make_ahead_) return false;
  for (std::uint32_t i = 0; i < most; ++i) {
    const GroupLimits* wanted = ahead_.wanted();
    if (wanted == nullptr) return false;
    const GroupLimits limits = *wanted;
    auto built = build_named("ahead-", limits);
    if (!built) return false;
    (*built)->set_made_ahead();
    ahead_.put(limits, std::move(*built));
  }
  return ahead_.wanted() != nullptr;
}

void HierarchyHost::expect(const GroupLimits& limits) { ahead_.expect(limits); }

std::uint64_t whole_pages(Bytes bytes) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes.count / page * page;
}

HostLimits settled(const HostLimits& host) {
  HostLimits full = host;
  struct sysinfo info {};
  if (full.memory.count == 0 && ::sysinfo(&info) == 0)
    full.memory = {static_cast<std::uint64_t>(info.totalram) * info.mem_unit / 10 * 8};
  if (full.processes == 0) full.processes = 16384;
  return full;
}

MilliCpus within(MilliCpus asked, MilliCpus host) { return host.count == 0 || asked.count < host.count ? asked : host; }

}  // namespace mayfly
