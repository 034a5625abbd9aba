// Resource limits and processors of the program's process (setrlimit(2), sched_setaffinity(2)). Never raised above what
// the builder itself was given: the service may lack CAP_SYS_RESOURCE. Side: inside.
#pragma once

#include "jail/builder/inside/inside.h"

namespace mayfly {

void set_limits(Inside& in);

// For the time of the vfork: the program's process starts where pid 1 stops, and no other processor has to be woken.
void stay_on_this_processor();
void use_all_processors(const Inside& in);

}  // namespace mayfly
