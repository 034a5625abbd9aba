// Control groups v1 (Documentation/admin-guide/cgroup-v1): one tree per controller, or several controllers on one.
// Private to cgroup_v1*.cpp.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jail/supervisor/cgroup_files.h"
#include "jail/supervisor/cgroup_group.h"
#include "jail/supervisor/cgroup_sight.h"

namespace mayfly {

// Our parent group in one hierarchy.
struct V1Branch {
  Hierarchy where;
  Fd root;           // the mount point
  Fd parent;         // mayfly-<instance>
  std::string path;  // of `parent` as /proc/<pid>/cgroup shows it
};

// Our parent groups in all of them; shared by the host and every group, and removed with the last of these.
struct V1Tree {
  std::vector<V1Branch> branches;  // at most four
  const V1Branch* memory = nullptr;
  const V1Branch* pids = nullptr;
  const V1Branch* cpu = nullptr;
  const V1Branch* cpuacct = nullptr;
  bool has_memsw = false;  // memory and swap limited together; else swappiness 0 keeps a jail off swap
  bool has_tcp = false;    // what sockets hold is counted apart (memory.kmem.tcp)
  MilliCpus host_cpus;
  std::string parent_name;
  std::shared_ptr<CgroupDirectories> directories;

  V1Tree() = default;
  V1Tree(const V1Tree&) = delete;
  V1Tree& operator=(const V1Tree&) = delete;
  ~V1Tree();
  void choose_branches();
};

class V1Group final : public JailGroup {
 public:
  static Expected<std::unique_ptr<JailGroup>> make(std::shared_ptr<const V1Tree> tree, std::string name,
                                                   const GroupLimits& limits);
  ~V1Group() override;

  CgroupKind kind() const override { return CgroupKind::V1; }
  std::span<const int> attach_fds() const override { return {attach_numbers_.data(), attach_count_}; }
  void attached() override;
  int kill_fd() const override { return quota_.get(); }
  const char* kill_text() const override { return quota_ ? "-1" : ""; }
  Expected<void> lift_cpu_quota() override;
  Expected<void> kill_all() override;
  GroupUsage usage() const override;
  GroupAccounting account() const override;
  GroupEvents events() const override;
  int oom_fd() const override { return oom_.get(); }
  std::uint32_t oom_interest() const override;
  OomSign look_for_oom() override;
  void read_back() override { found_ = read_limits(); }
  GroupMeasured measure(std::string_view proc_cgroup) const override;
  Expected<void> remove() override;

 private:
  static constexpr std::size_t kMostBranches = 4;

  V1Group(std::shared_ptr<const V1Tree> tree, std::string name, const GroupLimits& limits)
      : tree_(std::move(tree)), name_(std::move(name)), limits_(limits) {}
  Expected<void> make_directories();
  Expected<void> limit_memory();
  Expected<void> limit_cpu();
  Expected<void> open_attach_files();
  Expected<void> open_counters();
  void watch_oom();
  [[nodiscard]] GroupMeasured read_limits() const;
  [[nodiscard]] bool holds(std::string_view proc_cgroup, const V1Branch& branch, std::string_view controller) const;
  [[nodiscard]] std::uint64_t oom_kills() const;
  [[nodiscard]] std::optional<std::uint64_t> cpu_us() const;

  std::shared_ptr<const V1Tree> tree_;
  std::string name_;
  GroupLimits limits_;
  std::array<bool, kMostBranches> made_{};
  std::array<Fd, kMostBranches> attach_;
  std::array<int, kMostBranches> attach_numbers_{};
  std::size_t attach_count_ = 0;
  Fd quota_;  // cpu.cfs_quota_us, for writing
  Fd oom_;    // eventfd
  GroupFile cpu_time_, memory_peak_, memory_hits_, oom_control_, processes_peak_, process_hits_;
  std::optional<GroupMeasured> found_;  // by read_back()
};

// cpuacct.usage of `group` below the parent ("." is the parent itself), which counts nanoseconds, in microseconds.
std::optional<std::uint64_t> v1_cpu_us(const V1Branch* cpuacct, std::string_view group);

// Asked for `asked`, found `found`, in `file`: into `state`, and words into `measured` if they differ.
void compare_limit(GroupMeasured& measured, LimitState& state, std::string_view file, std::uint64_t asked,
                   std::optional<std::uint64_t> found);

}  // namespace mayfly
