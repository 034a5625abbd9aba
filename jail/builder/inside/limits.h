// Resource limits and processors of the program's process (setrlimit(2), sched_setaffinity(2)). Never raised above what
// the builder itself was given: the service may lack CAP_SYS_RESOURCE. Side: inside.
#pragma once

#include "jail/builder/inside/inside.h"

namespace mayfly {

void set_limits(Inside& in);

}  // namespace mayfly
