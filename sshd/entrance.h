// Entrance: whether a stranger's connection gets a session process, by everything that the listener knows: places,
// how many wait for a login, and how earlier connections of the same source ended.
//
// Peers on loopback have no penalties unless asked for: behind a proxy or a tunnel everybody is 127.0.0.1, the
// operator's own shell on this host too, and one who mistypes a name would lock all of them out. Everything else holds
// for them. Owner: the listener. Pure; time and randomness are passed in.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "jail/os/peer.h"
#include "sshd/early_drop.h"
#include "sshd/penalties.h"
#include "sshd/refusals.h"
#include "sshd/source_limits.h"

namespace mayfly {

enum class LoopbackPenalties : unsigned char { Spared, Given };

// One connection that was let in.
struct Guest {
  std::string source;
  bool loopback = false;
  Standing standing = Standing::Unauthenticated;
};

class Entrance {
 public:
  using Random = std::function<std::uint32_t()>;  // any of all values, each as likely as the others

  Entrance(Places places, EarlyDrop early_drop, LoopbackPenalties loopback, Random random)
      : limits_(places), early_drop_(early_drop), loopback_(loopback), random_(std::move(random)) {}

  // Nothing: let in, and counted until left().
  std::optional<Refusal> judge(const Peer& peer, Microseconds now);
  void admitted(Guest& guest);
  void left(const Guest& guest, SessionEnd end, Microseconds now);

 private:
  [[nodiscard]] bool counts_penalties(bool loopback) const {
    return !loopback || loopback_ == LoopbackPenalties::Given;
  }

  SourceLimits limits_;
  EarlyDrop early_drop_;
  Penalties penalties_{penalty::kMostSources};
  LoopbackPenalties loopback_;
  Random random_;
};

}  // namespace mayfly
