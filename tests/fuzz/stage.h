// Stage: one scenario, played around a session in the same thread. The session's poll(2), its clock and a few calls
// more are ours (--wrap in CMakeLists.txt), so that whenever the session would wait, the stage has its turn: it moves
// the bytes of the peer and the jails, hands out the next record, and when nothing is left to do lets the played time
// pass. Nothing ever sleeps, and the same input takes the same course every time.
//
// Rules held here: serve() returns soon after the peer has ended its side, the session does not spin, it never waits
// without end, it turns off the kernel's alarm when its peer is in and not before, tells the listener exactly once,
// and a log line is one line of printable characters whatever the peer wrote.
#pragma once

#include <poll.h>

#include <string_view>

#include "jail/os/fd.h"
#include "tests/fuzz/played_peer.h"
#include "tests/fuzz/played_supervisor.h"
#include "tests/fuzz/scenario.h"

namespace mayfly::fuzz {

// The far ends of what the session is given.
struct FarEnds {
  Fd peer;
  Fd lease;
  Fd keeper;  // an eventfd: written, the keeper is gone
};

class Stage {
 public:
  Stage(const Scenario& scenario, FarEnds ends, Reached& reached);
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage();

  static Stage* active();  // of the session that runs now; null: none

  int poll(pollfd* entries, nfds_t count, int timeout_ms);
  [[nodiscard]] std::int64_t now_us() { return ++now_us_; }  // never twice the same
  void note_alarm_off() { ++alarms_off_; }
  void judge_log_line(std::string_view line) const;
  // After serve(): `admitted`: the report had its byte.
  void judge_end(bool admitted) const;

 private:
  bool deliver_next();
  void play(const Record& record);
  int let_time_pass(int timeout_ms);

  const Scenario& scenario_;
  Reached& reached_;
  PlayedPeer peer_;
  PlayedSupervisor supervisor_;
  Fd keeper_;
  std::size_t next_ = 0;
  bool over_ = false;
  std::int64_t now_us_;
  std::int64_t waiting_us_ = 0;  // of a Wait
  std::int64_t over_us_ = 0;     // when the peer ended its side
  std::uint64_t turns_without_news_ = 0;
  unsigned alarms_off_ = 0;
};

}  // namespace mayfly::fuzz
