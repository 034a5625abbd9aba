// Deadlines of one connection: pure arithmetic on the monotonic clock, so that tests bring their own time.
#pragma once

#include <optional>

#include "jail/spec/units.h"

namespace mayfly {

using namespace literals;

inline constexpr Milliseconds kLoginGrace = 20_s;       // from accept to admitted, whatever the stage
inline constexpr Milliseconds kKeepaliveEvery = 15_s;   // of silence
inline constexpr int kKeepalivesUnanswered = 3;         // then the peer is gone
inline constexpr Milliseconds kUnusedLimit = 10_min;    // without any channel

enum class Due : unsigned char { Nothing, Keepalive, LoginTooSlow, PeerSilent, Unused };

class Deadlines {
 public:
  explicit Deadlines(Microseconds accepted) : grace_until_(accepted + kLoginGrace), heard_(accepted), used_(accepted) {}

  void admitted() { admitted_ = true; }
  void heard(Microseconds now);         // a packet came
  void used(Microseconds now) { used_ = now; }  // there is a channel
  Due due(Microseconds now);            // what is due; a keepalive is due once per interval
  [[nodiscard]] Microseconds next() const;      // when to ask again, at the latest

 private:
  [[nodiscard]] Microseconds keepalive_at() const { return heard_ + kKeepaliveEvery * (unanswered_ + 1); }

  Microseconds grace_until_;
  Microseconds heard_;
  Microseconds used_;
  int unanswered_ = 0;
  bool admitted_ = false;
};

}  // namespace mayfly
