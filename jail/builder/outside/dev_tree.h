// The minimal /dev of every jail: one small tmpfs, filled once, then read-only. pts is an empty mount point: each jail
// has a devpts of its own.
// Side: outside, while the host's tree is still there. Device nodes are made where we may (root), and bound from the
// host's /dev where we may not (mknod is refused in a user namespace, and by some containers).
#pragma once

#include <array>

#include "jail/expected.h"
#include "jail/os/fd.h"

namespace mayfly {

struct DeviceBind {
  const char* name;
  Fd source;  // a detached mount of the host's node
};

struct DevTree {
  Fd tree;                            // detached, not yet read-only
  std::array<DeviceBind, 6> binds{};  // to be attached once the tree itself is; `source` is none where a node was made
};
Expected<DevTree> make_dev_tree();

// After `directory`/`path` is where the tree was attached.
Expected<void> attach_devices(const DevTree& dev, int directory);

}  // namespace mayfly
