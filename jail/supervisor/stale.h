// What an engine that was killed left behind: its control groups and its lock file. Only instances whose lock is free
// are touched, and the lock is held while that is done, so that none is cleaned that lives or is being born.
// Namespaces, mounts and processes need no cleaning: they ended with the supervisor's pidfd.
#pragma once

#include <string>

#include "jail/supervisor/cgroup.h"

namespace mayfly {

// Never fails outwards: what could not be removed is logged, and the next start tries again. The number of instances
// that were cleaned.
std::size_t clean_stale_instances(const std::string& run_directory, const std::string& own_instance,
                                  CgroupHost& groups);

}  // namespace mayfly
