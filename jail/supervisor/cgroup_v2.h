// Control groups v2 (Documentation/admin-guide/cgroup-v2.rst). Private to cgroup_v2*.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jail/supervisor/cgroup_files.h"
#include "jail/supervisor/cgroup_group.h"
#include "jail/supervisor/cgroup_sight.h"

namespace mayfly {

// Our parent group. Shared by the host and every group, and removed with the last of these.
struct V2Tree {
  Fd base;           // where the parent was made: the root, or our own delegated group
  Fd parent;         // mayfly-<instance>
  std::string path;  // of `parent` as /proc/<pid>/cgroup shows it
  std::string mount_point, parent_name;
  bool memory = false, pids = false, cpu = false;  // enabled for our jails
  MilliCpus host_cpus;
  std::shared_ptr<CgroupDirectories> directories;

  V2Tree() = default;
  V2Tree(const V2Tree&) = delete;
  V2Tree& operator=(const V2Tree&) = delete;
  ~V2Tree();
};

// Enables controllers below `base`, each on its own, moving our own processes into a leaf first where the kernel
// wants that. `missing`: memory, cpu, pids; filled for those that stay absent.
struct V2Place {
  std::string path;  // below the mount point, "" = the mount point itself
  std::string mount_point;
  std::string leaf;  // name of the leaf for our own processes
};
struct V2Enabled {
  bool memory = false, pids = false, cpu = false;
  std::vector<NotHere> missing = std::vector<NotHere>(3);
  [[nodiscard]] bool any() const { return memory || pids || cpu; }
};
// Unknown: it, or one of its ancestors, has ended while we looked, or is hidden from us.
enum class Whose : std::uint8_t { Ours, Others, Unknown };
Whose whose_is(pid_t pid);
V2Enabled enable_controllers(const V2Place& place, int base, CgroupDirectories& directories);

class V2Group final : public JailGroup {
 public:
  static Expected<std::unique_ptr<JailGroup>> make(std::shared_ptr<const V2Tree> tree, std::string name,
                                                   const GroupLimits& limits);
  ~V2Group() override;

  CgroupKind kind() const override { return CgroupKind::V2; }
  std::span<const int> attach_fds() const override { return {&attach_number_, attach_number_ >= 0 ? 1u : 0u}; }
  void attached() override;
  int kill_fd() const override { return kill_.get(); }
  const char* kill_text() const override { return kill_ ? kill_text_ : ""; }
  Expected<void> lift_cpu_quota() override;
  Expected<void> kill_all() override;
  GroupUsage usage() const override;
  GroupAccounting account() const override;
  GroupEvents events() const override;
  int oom_fd() const override { return events_.fd(); }
  std::uint32_t oom_interest() const override;
  OomSign look_for_oom() override;
  void read_back() override { found_ = read_limits(); }
  GroupMeasured measure(std::string_view proc_cgroup) const override;
  Expected<void> remove() override;

 private:
  V2Group(std::shared_ptr<const V2Tree> tree, std::string name, const GroupLimits& limits)
      : tree_(std::move(tree)), name_(std::move(name)), limits_(limits) {}
  Expected<void> set_limits();
  Expected<void> open_files();
  Expected<void> write(std::string_view file, std::string_view text) const;
  [[nodiscard]] std::optional<std::uint64_t> number(std::string_view file) const;
  [[nodiscard]] GroupMeasured read_limits() const;
  [[nodiscard]] bool holds(std::string_view proc_cgroup) const;

  std::shared_ptr<const V2Tree> tree_;
  std::string name_;
  GroupLimits limits_;
  bool made_ = false;
  Fd attach_;  // the directory
  int attach_number_ = -1;
  Fd kill_;  // cgroup.kill, or cpu.max on a kernel before 5.14
  const char* kill_text_ = "1";
  GroupFile events_;  // memory.events
  GroupFile cpu_stat_, memory_peak_, processes_peak_, process_hits_;
  std::optional<GroupMeasured> found_;  // by read_back()
};

}  // namespace mayfly
