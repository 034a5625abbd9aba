// PlayedPeer: the SSH client of a scenario. Frames what the records say, keeps no secret, and shows everything that
// comes back to the judge. Never waits.
#pragma once

#include <string>
#include <string_view>

#include "jail/os/fd.h"
#include "tests/fuzz/scenario.h"
#include "tests/fuzz/server_judge.h"

namespace mayfly::fuzz {

class PlayedPeer {
 public:
  PlayedPeer(Fd socket, const Scenario& scenario, Reached& reached);

  // One step of the part before the first record; false: there is none left.
  bool advance_prelude();
  void send_packet(std::string_view payload);
  void send_raw(std::string_view bytes);
  bool flush();      // false: the session takes nothing more now
  bool drain();      // true: something came
  void end_input();  // the half-close
  void vanish();     // both directions
  void halt(bool halted) { halted_ = halted; }

 private:
  static std::string without_endless_loop(std::string_view payload);
  void frame(std::string_view payload);

  Fd socket_;
  Prelude prelude_;
  Ways ways_;
  ServerJudge judge_;
  std::string unsent_;
  int step_ = 0;
  bool has_mac_ = false;
  bool halted_ = false;
};

}  // namespace mayfly::fuzz
