// The program's standard streams: three pipes, or a pty of the jail's own devpts. Made under the jail's ids, so that
// they are counted against nobody else; the outer ends go to the relay at once. Side: inside.
#pragma once

#include <array>

#include "jail/builder/inside/inside.h"

namespace mayfly {

struct Streams {
  std::array<int, 3> inner{-1, -1, -1};  // what the program gets as 0, 1, 2; with a terminal all one descriptor
};

int mount_devpts(Inside& in);  // at /jail/dev/pts; its directory, or -1 when left out
Streams make_streams(Inside& in, int devpts);
void close_inner(const Streams& streams);

}  // namespace mayfly
