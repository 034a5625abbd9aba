// What one jail gets of a prepared tree: a detached mount of its own. Owner: builder, until the clone. Side: outside.
//
// Of /usr, /etc, /dev and a profile's seed it is a copy of the mount (open_tree(2)). A profile's `readonly`, which
// stays there while the program runs, is seen through an overlay without an upper layer: a read-only mount is no wall
// for sockets and FIFOs (connect(2) and open(2) pass it), but those of a lower layer have inodes of the overlay's own,
// at which nobody listens, and which are a pipe of this jail alone. Anew for each jail, because an overlay remembers
// names that it has looked up: what is put into the folder is there for the next jail. Decision 0015. Sources:
// Documentation/filesystems/overlayfs.rst ("Non-standard behavior"), unix(7), fifo(7).
#pragma once

#include "jail/builder/host_facts.h"
#include "jail/os/fd.h"

namespace mayfly {

// None: errno says why. Of an overlay ENOENT: the folder has been removed; ENODEV: the kernel has no overlayfs; EPERM:
// not for an ordinary user (before Linux 5.11); EINVAL: the folder's file system cannot be a layer (an overlay over an
// overlay, names without regard to case). Called in the builder's own root, its working directory is / before and
// after.
[[nodiscard]] Fd copy_tree(const TopTree& tree);

}  // namespace mayfly
