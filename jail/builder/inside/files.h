// The code and files of the request, written below the home directory by the program's own id from the sealed payload,
// so that their bytes are charged to the jail and bounded by its tmpfs. Side: inside, the program's process.
#pragma once

#include "jail/builder/inside/inside.h"

namespace mayfly {

void write_files(Inside& in);

}  // namespace mayfly
