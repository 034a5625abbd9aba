// What pid 1 does once the program runs: reaps, passes signals on, tells how the program ended, holds the wall limit a
// second time, and ends with the supervisor. Never returns. Side: inside.
#pragma once

#include <sys/types.h>

#include "jail/builder/inside/inside.h"

namespace mayfly {

[[noreturn]] void watch_program(Inside& in, pid_t program);

}  // namespace mayfly
