// The synthetic /etc of every jail: one small tmpfs, filled once, then read-only. Nothing of the host's /etc is in it
// but the loader's cache and the symlinks of /etc/alternatives.
// Side: outside, while the host's tree is still there.
#pragma once

#include "jail/expected.h"
#include "jail/os/fd.h"

namespace mayfly {

// A detached mount, still writable: the caller adds mount points to it and then makes it read-only.
Expected<Fd> make_etc_tree();

}  // namespace mayfly
