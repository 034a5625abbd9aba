// TurnWatch: the kernel ends this process (SIGPROF) when one turn of its loop takes more processor time than any honest
// one does. A peer that finds a loop without end in libssh would otherwise keep a processor busy and its jails alive
// for as long as it likes, also after it has left, since nothing here would run any more to notice. There is one in
// 0.10.6: a channel that takes packets of ten bytes, of which libssh thinks ten to be headers.
//
// Owner: Connection; one per process, because the timer is the process's (setitimer(2)). For the listener
// it is an end of its own, SessionEnd::EndlessTurn (session_end.h).
#pragma once

#include <optional>

#include "jail/spec/units.h"

namespace mayfly {

class TurnWatch {
 public:
  TurnWatch() = default;
  TurnWatch(const TurnWatch&) = delete;
  TurnWatch& operator=(const TurnWatch&) = delete;
  ~TurnWatch();

  void begin_turn(Microseconds now);

 private:
  std::optional<Microseconds> begun_;  // when the timer was set last
};

}  // namespace mayfly
