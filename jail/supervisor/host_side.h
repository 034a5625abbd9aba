// The real HostSide of a supervisor: control groups, measuring and survey of this host. Made before lock_down, because
// some of it looks at what the supervisor cannot see afterwards.
#pragma once

#include "jail/supervisor/supervisor.h"

namespace mayfly {

Expected<HostSide> make_host_side(const SupervisorConfig& config);

}  // namespace mayfly
