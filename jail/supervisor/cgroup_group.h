// JailGroup: what stands behind a JailCgroup, one implementation per kind; see cgroup.h for what each call means.
// HierarchyHost: what the hosts with cgroups have in common: groups made ahead, names, numbers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jail/supervisor/cgroup.h"

namespace mayfly {

class JailGroup {
 public:
  virtual ~JailGroup() = default;  // kills and removes what is still there

  [[nodiscard]] virtual CgroupKind kind() const = 0;
  [[nodiscard]] virtual std::span<const int> attach_fds() const = 0;
  virtual void attached() = 0;
  [[nodiscard]] virtual int kill_fd() const = 0;
  [[nodiscard]] virtual const char* kill_text() const = 0;
  virtual Expected<void> lift_cpu_quota() = 0;
  virtual Expected<void> kill_all() = 0;
  [[nodiscard]] virtual GroupUsage usage() const = 0;
  [[nodiscard]] virtual GroupAccounting account() const = 0;
  [[nodiscard]] virtual GroupEvents events() const = 0;
  [[nodiscard]] virtual int oom_fd() const = 0;
  [[nodiscard]] virtual std::uint32_t oom_interest() const = 0;
  virtual OomSign look_for_oom() = 0;
  virtual void read_back() = 0;
  [[nodiscard]] virtual GroupMeasured measure(std::string_view proc_cgroup) const = 0;
  virtual Expected<void> remove() = 0;

  void set_made_ahead() { made_ahead_ = true; }
  [[nodiscard]] bool made_ahead() const { return made_ahead_; }

 private:
  bool made_ahead_ = false;
};

// Groups made in idle time. Each is handed out once. Knows which limits are asked for, and how many of each to keep.
class AheadGroups {
 public:
  std::unique_ptr<JailGroup> take(const GroupLimits& limits);  // null: none ready; then more are kept from now on
  void expect(const GroupLimits& limits);
  // The limits of which one more is wanted now, or null. Total stays within kGroupsAhead.
  [[nodiscard]] const GroupLimits* wanted() const;
  void put(const GroupLimits& limits, std::unique_ptr<JailGroup> group);
  void clear() { sets_.clear(); }

 private:
  struct Set {
    GroupLimits limits;
    std::size_t target = 0;
    std::vector<std::unique_ptr<JailGroup>> ready;
  };
  Set& set_of(const GroupLimits& limits);  // makes it the most recently used one
  std::vector<Set> sets_;                  // most recently used first
};

class HierarchyHost : public CgroupHost {
 public:
  explicit HierarchyHost(bool made_ahead) : may_make_ahead_(made_ahead) {}
  Expected<JailCgroup> make(std::uint32_t slot, const GroupLimits& limits) final;
  bool refill(std::uint32_t most) final;
  void expect(const GroupLimits& limits) final;

 protected:
  // `name` is new: EEXIST is a Failure with that errno.
  virtual Expected<std::unique_ptr<JailGroup>> build(const std::string& name, const GroupLimits& limits) = 0;
  void drop_ahead() { ahead_.clear(); }

 private:
  Expected<std::unique_ptr<JailGroup>> build_named(const std::string& stem, const GroupLimits& limits);
  AheadGroups ahead_;
  std::uint64_t serial_ = 0;
  bool may_make_ahead_;
};

inline constexpr std::string_view kGroupPrefix = "mayfly-";
// cpu.cfs_period_us and the second number of cpu.max: 100 ms, the kernel's own default.
inline constexpr std::uint64_t kCpuPeriodUs = 100'000;
inline constexpr std::uint64_t quota_us(MilliCpus cpus) { return cpus.count * kCpuPeriodUs / 1000; }
// The kernel counts memory limits in whole pages, rounded down.
std::uint64_t whole_pages(Bytes bytes);
// Zeros replaced: 80 % of RAM, 16384 processes; cpus stays 0 = no limit but the processors themselves.
HostLimits settled(const HostLimits& host);
MilliCpus within(MilliCpus asked, MilliCpus host);  // the smaller; host 0 = no limit

// For open(): each gives nullptr, and says why in `cause` and `fix`, where the host has no such hierarchy for us.
struct NotHere {
  std::string cause, fix;
};
Expected<std::unique_ptr<CgroupHost>> open_v1(const CgroupPlace& place, const CgroupSight& sight, NotHere& why);
Expected<std::unique_ptr<CgroupHost>> open_v2(const CgroupPlace& place, const CgroupSight& sight, NotHere& why);
std::unique_ptr<CgroupHost> open_none(const NotHere& why);

}  // namespace mayfly
