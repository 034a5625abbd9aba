// A jail's root: one tmpfs of bounded bytes and inodes that also holds /tmp, /run/shm (/dev/shm) and /home/run, with
// copies of the prepared trees in it. Side: inside, with the capabilities of the new user namespace.
#pragma once

#include "jail/builder/inside/inside.h"

namespace mayfly {

// A world-readable file that no Landlock rule reaches: opening it proves Landlock (tmpfs has no other reason to
// refuse).
inline constexpr const char* kLandlockCanary = "/.landlock";
inline constexpr const char* kHome = "/home/run";

int make_root(Inside& in);                  // attached at /jail; its directory
void place_trees(Inside& in, int root);     // moves the copies in
void move_onto_root(Inside& in, int root);  // the builder's tree is reachable no more

}  // namespace mayfly
