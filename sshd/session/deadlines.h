// Deadlines of one connection: pure arithmetic on the monotonic clock, so that tests bring their own time.
#pragma once

#include <optional>

#include "jail/spec/units.h"

namespace mayfly {

using namespace literals;

inline constexpr Milliseconds kLoginGrace = 20_s;      // from accept to admitted, whatever the stage
inline constexpr Milliseconds kKeepaliveEvery = 15_s;  // of silence: then the peer is asked whether it is there
inline constexpr int kSilentIntervals = 3;             // at the end of the third one it is gone
inline constexpr Milliseconds kUnusedLimit = 10_min;   // without any channel

enum class Due : unsigned char { Nothing, Keepalive, LoginTooSlow, PeerSilent, Unused };

class Deadlines {
 public:
  explicit Deadlines(Microseconds accepted) : grace_until_(accepted + kLoginGrace), heard_(accepted), used_(accepted) {}

  void admitted() { admitted_ = true; }
  void heard(Microseconds now);                 // a packet came
  void used(Microseconds now) { used_ = now; }  // there is a channel
  Due due(Microseconds now);                    // what is due; a keepalive is due once per interval
  [[nodiscard]] Microseconds next() const;      // when to ask again, at the latest

 private:
  [[nodiscard]] Microseconds keepalive_at() const { return heard_ + kKeepaliveEvery * (asked_ + 1); }

  Microseconds grace_until_;
  Microseconds heard_;
  Microseconds used_;
  int asked_ = 0;  // since it was heard
  bool admitted_ = false;
};

}  // namespace mayfly
