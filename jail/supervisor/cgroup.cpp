// JailCgroup passes on to its JailGroup; CgroupHost::open() chooses the kind.
#include "jail/supervisor/cgroup.h"

#include "jail/supervisor/cgroup_group.h"

namespace mayfly {

JailCgroup::JailCgroup() = default;
JailCgroup::JailCgroup(std::unique_ptr<JailGroup> group) : group_(std::move(group)) {}
JailCgroup::JailCgroup(JailCgroup&&) noexcept = default;
JailCgroup& JailCgroup::operator=(JailCgroup&&) noexcept = default;
JailCgroup::~JailCgroup() = default;

CgroupKind JailCgroup::kind() const { return group_ ? group_->kind() : CgroupKind::None; }
bool JailCgroup::made_ahead() const { return group_ && group_->made_ahead(); }
std::span<const int> JailCgroup::attach_fds() const { return group_ ? group_->attach_fds() : std::span<const int>{}; }
void JailCgroup::attached() {
  if (group_) group_->attached();
}
int JailCgroup::kill_fd() const { return group_ ? group_->kill_fd() : -1; }
const char* JailCgroup::kill_text() const { return group_ ? group_->kill_text() : ""; }
Expected<void> JailCgroup::lift_cpu_quota() { return group_ ? group_->lift_cpu_quota() : Expected<void>{}; }
Expected<void> JailCgroup::kill_all() { return group_ ? group_->kill_all() : Expected<void>{}; }

namespace {
constexpr const char* kNoGroup = "the jail has no control group";
}

GroupUsage JailCgroup::usage() const {
  if (group_) return group_->usage();
  return {{std::nullopt, kNoGroup}, {std::nullopt, kNoGroup}, {std::nullopt, kNoGroup}};
}
GroupAccounting JailCgroup::account() const {
  if (group_) return group_->account();
  return {{std::nullopt, kNoGroup}, {std::nullopt, kNoGroup}, {std::nullopt, kNoGroup}};
}
GroupEvents JailCgroup::events() const { return group_ ? group_->events() : GroupEvents{}; }
int JailCgroup::oom_fd() const { return group_ ? group_->oom_fd() : -1; }
std::uint32_t JailCgroup::oom_interest() const { return group_ ? group_->oom_interest() : 0; }
OomSign JailCgroup::look_for_oom() { return group_ ? group_->look_for_oom() : OomSign::None; }
void JailCgroup::read_back() {
  if (group_) group_->read_back();
}
GroupMeasured JailCgroup::measure(std::string_view proc_cgroup) const {
  return group_ ? group_->measure(proc_cgroup) : GroupMeasured{};
}

Expected<void> JailCgroup::remove() {
  if (!group_) return {};
  TRY(group_->remove());
  group_.reset();
  return {};
}

const char* CgroupHost::kind_name() const {
  switch (kind()) {
    case CgroupKind::V1:
      return "v1";
    case CgroupKind::V2:
      return "v2";
    case CgroupKind::None:
      break;
  }
  return "none";
}

// v2 first: on a hybrid host its tree has none of our controllers and says so; where it has them, v1 has not.
Expected<std::unique_ptr<CgroupHost>> CgroupHost::open(const CgroupPlace& place, const CgroupSight& sight) {
  NotHere no_v2, no_v1;
  if (auto host = TRY(open_v2(place, sight, no_v2))) return host;
  if (auto host = TRY(open_v1(place, sight, no_v1))) return host;
  return open_none(no_v1.cause.empty() ? no_v2 : no_v1);
}

std::unique_ptr<CgroupHost> CgroupHost::none(std::string cause) {
  return open_none({std::move(cause), "start without --no-cgroups"});
}

}  // namespace mayfly
