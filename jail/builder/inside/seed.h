// The seed of a profile: a directory of the host that is copied into the home directory before the program begins, by
// pid 1 under the program's ids: so the copies are the program's own, and their bytes are charged to the jail and
// bounded by its tmpfs. The mount at /seed, which it is copied from, is gone afterwards: a socket or a FIFO in it would
// lead out of the jail. Side: inside.
// Files, directories (7 levels below it) and symlinks are copied; of modes only whether a file may be executed. What
// else there is, what the program's ids may not read, and what is gone when its turn comes, is left out. Larger than
// the disk (ENOSPC) or deeper (ELOOP): no jail.
#pragma once

#include "jail/builder/inside/inside.h"

namespace mayfly {

[[nodiscard]] bool has_seed(const Inside& in);
void plant_seed(Inside& in);  // once the root is /, with the capability to unmount

}  // namespace mayfly
