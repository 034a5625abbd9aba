// Killing what is in a group directory and removing a tree of groups. Bounded. Side: outside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jail/expected.h"
#include "jail/spec/units.h"
#include "jail/supervisor/cgroup.h"

namespace mayfly {

// SIGKILL to every process that is in `group` (a directory descriptor) now. A pid that was handed on in between is
// never hit: each is held by a pidfd first, and must still be listed after that. Gives how many were signalled.
Expected<std::size_t> kill_members(int group);

// Kills again and again until the group is empty; ETIMEDOUT after `limit`.
Expected<void> empty_group(int group, Milliseconds limit);

// Stops forks, lifts the quota (files that are absent are not missed), kills, and removes `name` and every group
// below it. Failure (EBUSY, ETIMEDOUT) when something is left after `limit`.
Expected<void> remove_group_tree(CgroupDirectories& directories, int parent, const std::string& name,
                                 Milliseconds limit);

// rmdir, again after EBUSY for `limit` at most. ENOENT is success.
Expected<void> remove_group(CgroupDirectories& directories, int parent, const char* name, Milliseconds limit);

// Names of the groups directly below `group`.
Expected<std::vector<std::string>> groups_in(int group);

// The instance ids of the parent groups in `root`, `ours` excepted.
void add_instances(int root, std::string_view ours, std::vector<std::string>& into);
bool is_instance_id(std::string_view text);  // 12 lower-case hex digits

}  // namespace mayfly
