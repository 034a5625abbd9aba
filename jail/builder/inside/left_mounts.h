// The mounts of a jail whose program is over soon, left to the kernel. Side: inside.
//
// Who gives up a mount namespace last waits for a grace period of RCU (umount_tree, namespace_unlock in
// fs/namespace.c): a quarter of a millisecond and more, in which pid 1 has ended but cannot be reaped. A descriptor of
// the namespace that is in flight to a socket which is itself in flight belongs to no process; the kernel collects such
// rings by itself as soon as an AF_UNIX socket is closed (unix(7), SCM_RIGHTS), in newer kernels in a worker of its
// own. So pid 1 is reaped first, and the mounts go a few milliseconds later. The socket holds the network namespace,
// whose end is "released": the mounts are normally gone by then, but the kernel promises no order.
//
// Only where few jails are about: one worker waits for one namespace after the other. Where it cannot be done (no
// /proc, too many descriptors in flight), or the kernel collects at once, pid 1 waits as ever.
#pragma once

#include "jail/builder/inside/inside.h"
#include "jail/os/fd.h"

namespace mayfly {

// With this many jails that are not released yet, live ones included, each pid 1 waits for its own mounts.
inline constexpr std::uint32_t kFewJails = 24;

class LeftMounts {
 public:
  explicit LeftMounts(const Inside& in);
  // The program runs longer: pid 1 holds its mounts itself again.
  void take_back();

 private:
  Fd speaking_, listening_;
};

}  // namespace mayfly
