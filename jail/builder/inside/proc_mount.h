// A jail's own procfs: nosuid, nodev, noexec, others' processes invisible, what tells about the host covered, all of
// it read-only. Side: inside. Where the host does not let a user namespace mount one, jails have no /proc.
#pragma once

#include "jail/builder/inside/inside.h"

namespace mayfly {

int mount_proc(Inside& in);                  // its directory, or -1 where there is none
void seal_namespaces(Inside& in, int proc);  // user.max_*_namespaces = 0, then read-only

}  // namespace mayfly
