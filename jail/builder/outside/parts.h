// What a jail is made of that can be made before it is known: its network namespace and its root. Empty, never used,
// each for exactly one jail and gone with it ("made ahead" in the glossary; performance.md).
// Owner: builder. Side: outside.
#pragma once

#include <array>
#include <utility>

#include "jail/builder/outside/network_parts.h"
#include "jail/builder/outside/root_part.h"
#include "jail/spec/limits.h"

namespace mayfly {

struct Parts {
  NetworkPart network;
  RootPart root;
  [[nodiscard]] bool is_complete() const { return network.network && root.tree; }
};

// A few are at hand as descriptors of ours; the others are parked in a socket of ours as messages in flight (unix(7),
// SCM_RIGHTS). Each clone copies our table of descriptors and pid 1 closes the copies: 256 of them are 60 us of every
// jail.
class PartsAhead {
 public:
  int open();  // before the first use: 0 or an errno. Without it only those at hand are kept.

  [[nodiscard]] bool is_full() const { return count() == kPartsAhead; }
  [[nodiscard]] bool is_empty() const { return count() == 0; }
  [[nodiscard]] std::uint32_t count() const { return at_hand_count_ + parked_count_; }
  // False: they are not kept (as an ordinary user all descriptors in flight are counted together, ETOOMANYREFS).
  bool add(Parts parts);
  // The youngest at hand, whose memory the processor still has, else the oldest that is parked. Incomplete only when
  // there are none, or when our table of descriptors is full.
  Parts take();

 private:
  bool park(const Parts& parts);
  Parts unpark();

  static constexpr std::uint32_t kAtHand = 4;
  std::array<Parts, kAtHand> at_hand_{};
  std::uint32_t at_hand_count_ = 0;
  std::uint32_t parked_count_ = 0;
  Fd in_, out_;
};

}  // namespace mayfly
