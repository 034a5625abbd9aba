// A jail's root: one tmpfs of bounded bytes and inodes that also holds /tmp, /run/shm (/dev/shm) and /home/run, made
// outside (root_part.h), with copies of the prepared trees in it. Side: inside, with the capabilities of the new user
// namespace.
#pragma once

#include "jail/builder/inside/inside.h"

namespace mayfly {

void place_root(Inside& in);      // at /jail
void place_trees(Inside& in);     // moves the copies in
void move_onto_root(Inside& in);  // the builder's tree is reachable no more

}  // namespace mayfly
