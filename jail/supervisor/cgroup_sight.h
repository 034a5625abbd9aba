// Which cgroup hierarchies there are and where we stand in each: from /proc/self/mountinfo and /proc/self/cgroup
// (cgroups(7)). Pure: parses two texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jail/supervisor/cgroup.h"

namespace mayfly {

struct Hierarchy {
  std::string mount_point;  // "/sys/fs/cgroup/memory", unescaped
  std::string mount_root;   // which group is mounted there, "/" mostly
  std::string own_path;     // our group below mount_point: "" when it is mount_point itself, else "/a/b".
                            // Outside of what is mounted: "" too
  bool read_only = false;
  bool memory = false, pids = false, cpu = false, cpuacct = false;  // v1 only

  [[nodiscard]] bool is_of_use() const { return memory || pids || cpu || cpuacct; }
};

std::vector<Hierarchy> v1_hierarchies(const CgroupSight& sight);  // those that have a controller of ours
std::vector<Hierarchy> v2_hierarchies(const CgroupSight& sight);  // none or one

// The path of a process in the hierarchy that has `controller` ("memory"; "" for v2), from the text of
// /proc/<pid>/cgroup. Empty when there is no such line.
std::string_view group_of(std::string_view proc_cgroup, std::string_view controller);

}  // namespace mayfly
