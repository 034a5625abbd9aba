// Closes every descriptor that pid 1 inherited and does not need: the first thing it does, before descriptor limits
// are lowered (a builder with many jails holds high numbers). 0, 1 and 2 are replaced later, by the jail's /dev/null.
#pragma once

#include "jail/builder/inside/inside.h"

namespace mayfly {

void keep_only_ours(Inside& in);

}  // namespace mayfly
