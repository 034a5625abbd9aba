// Warnings: when the person at a shell is told that a limit is near. One lead before the wall limit, once; one lead
// before the idle limit, once per silence. Pure arithmetic on the monotonic clock: the time is handed in. Owner:
// Channel.
//
// A limit shorter than two leads (two minutes) has no warning: it would come on the heels of the greeting. The idle
// limit has none where the wall limit is due first: then typing helps nothing.
//
// Others decide, these clocks only follow theirs. The wall limit runs from the gate, ours from Running, which is told
// just before it opens. The idle limit starts anew when the relay reads bytes of the peer from its pipe, ours when they
// are written into it. Milliseconds lie between, but for a program that does not read while its peer sends more than
// relay and pipe can hold: the relay reads the rest later, and that jail lives longer than its warning says.
#pragma once

#include <cstdint>
#include <optional>

#include "jail/spec/limits.h"

namespace mayfly {

inline constexpr Milliseconds kWarningLead = 1_min;  // time to save something, or to type

enum class Warning : unsigned char { Nothing, WallLimit, IdleLimit };

class Warnings {
 public:
  Warnings(const Limits& limits, Microseconds started, Milliseconds lead = kWarningLead);

  // How many bytes of input the jail has been given since its start. More than before: the silence is over.
  void given_input(std::uint64_t in_all, Microseconds now);
  Warning due(Microseconds now);                           // each warning once
  [[nodiscard]] std::optional<Microseconds> next() const;  // when to ask again; nothing: not before the next input

 private:
  void start_silence(Microseconds now);

  Milliseconds lead_;
  Milliseconds idle_;
  Microseconds wall_end_;
  std::optional<Microseconds> wall_at_;
  std::optional<Microseconds> idle_at_;
  std::uint64_t given_ = 0;
};

}  // namespace mayfly
