// The seed of a profile: a directory of the host, mounted at /seed, that is copied into the home directory before the
// program begins, by the program's own id, so that the copies are its own, and their bytes are charged to the jail and
// bounded by its tmpfs. Side: inside, the program's process.
// Files, directories (8 levels) and symlinks are copied; of modes only whether a file may be executed. What else there
// is is left out. Unreadable for the program's id, or larger than the disk: no jail (EACCES, ENOSPC).
#pragma once

#include "jail/builder/inside/inside.h"

namespace mayfly {

[[nodiscard]] bool has_seed(const Inside& in);
void copy_seed(Inside& in, int home);

}  // namespace mayfly
