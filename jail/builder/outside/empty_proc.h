// A procfs of a pid namespace in which nobody lives, mounted at `proc` of the builder's root. A jail may mount a procfs
// of its own only where one is fully visible already (mount_namespaces(7)); this one shows nothing.
// Side: outside, before the host's tree is detached (rootless it needs the host's /proc, without over-mounts).
#pragma once

#include "jail/expected.h"

namespace mayfly {

Expected<void> mount_empty_proc(int root_directory);

}  // namespace mayfly
