// A jail's network namespace before it is a jail's: empty, lo up, never entered by anyone but the builder for a moment.
// Made ahead, it saves half a millisecond of every jail (performance.md).
// Owner: builder. Side: outside. Needs CAP_SYS_ADMIN and CAP_NET_ADMIN in the builder's user namespace.
#pragma once

#include <cstdint>

#include "jail/builder/outside/nsids.h"
#include "jail/os/fd.h"

namespace mayfly {

struct NetworkPart {
  Fd network;
  std::uint32_t nsid = Nsids::kNone;
  bool is_furnished = false;
};

// What is ours in a new namespace, from within: lo up, and set to hold little, since connections that nobody has
// accepted are memory of no control group. `proc` is a procfs. 0 or an errno; EXDEV where we are not in the part's
// namespace: the settings would be the host's.
int furnish_network(const NetworkPart& part, int proc);

// Later: by the caller, when the jail is being built already. It takes a third as long as the namespace itself.
enum class Furnish : bool { Now, Later };

// Into a new namespace, and back again: 0 or an errno. `home` is the builder's own.
int make_network_part(int home, int proc, Nsids& nsids, Furnish furnish, NetworkPart& made);

}  // namespace mayfly
