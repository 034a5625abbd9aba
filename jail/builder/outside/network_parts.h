// Network namespaces made ahead: empty, lo up, never entered by anyone but the builder for a moment; each is used for
// exactly one jail and goes with it (performance.md: half a millisecond of every jail).
// Owner: builder. Side: outside. Needs CAP_SYS_ADMIN and CAP_NET_ADMIN in the builder's user namespace.
#pragma once

#include <array>

#include "jail/builder/outside/nsids.h"
#include "jail/os/fd.h"
#include "jail/spec/limits.h"

namespace mayfly {

struct NetworkPart {
  Fd network;
  std::uint32_t nsid = Nsids::kNone;
  bool is_furnished = false;
};

// What is ours in a new namespace, from within: lo up, and set to hold little, since connections that nobody has
// accepted are memory of no control group. `proc` is a procfs. 0 or an errno.
int furnish_network(int proc);

// Later: by the caller, when the jail is being built already. It takes a third as long as the namespace itself.
enum class Furnish : bool { Now, Later };

// Into a new namespace, and back again: 0 or an errno. `home` is the builder's own.
int make_network_part(int home, int proc, Nsids& nsids, Furnish furnish, NetworkPart& made);

class NetworkParts {
 public:
  [[nodiscard]] bool is_full() const { return count_ == parts_.size(); }
  [[nodiscard]] bool is_empty() const { return count_ == 0; }
  void add(NetworkPart part) { parts_[count_++] = std::move(part); }
  NetworkPart take() { return std::move(parts_[--count_]); }

 private:
  std::array<NetworkPart, kPartsAhead> parts_{};
  std::uint32_t count_ = 0;
};

}  // namespace mayfly
