// Landlock as a second layer over files (landlock(7), own raw calls). Side: inside, the program's process, after
// no_new_privs. A kernel without it: nothing happens, and the proof says so.
#pragma once

#include "jail/builder/inside/inside.h"

namespace mayfly {

void confine_files(Inside& in);

// errno of opening the canary: EACCES when Landlock works, 0 when it does not.
int prove_landlock();

}  // namespace mayfly
