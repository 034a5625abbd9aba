// Relay: carries every byte between one peer and one jail, and holds the jail's clock a second time. wire/relay.h is
// its contract with the supervisor.
//
// Stages: Live (the jail may run) -> Drained (its side is read to the end and closed; totals are final) -> Delivering
// (what is left goes out at the peer's pace) -> Over. A relay that holds pid 1's pidfd drains by itself when pid 1 is
// dead: it and the supervisor learn that at the same moment. Drain is for those that cannot know; Finish is the
// supervisor's. When the supervisor or the keeper is gone, or the supervisor has let go of a live jail, pid 1 is
// killed and nothing more is delivered.
//
// Single thread, poll(2), fixed memory. Side: outside; runs as the jail's relay uid.
#pragma once

#include <array>
#include <span>

#include "jail/os/fd.h"
#include "jail/spec/limits.h"
#include "jail/spec/units.h"
#include "jail/wire/relay.h"
#include "jail/witness/fixed_message.h"
#include "jail/witness/in_stream.h"
#include "jail/witness/kill_switch.h"
#include "jail/witness/order.h"
#include "jail/witness/out_stream.h"
#include "jail/witness/poll_set.h"
#include "jail/witness/reporter.h"

namespace mayfly {

// Pidfds of the processes without which a relay has no business; readable when they are dead. Held by the template.
struct Liveness {
  int keeper = -1;
  int supervisor = -1;
};

// All memory of a relay. Mapped, not allocated: pages that are not used do not exist.
struct RelayMemory {
  using Stream = std::array<char, kRelayBuffer.count + kRelayReserve.count>;
  Stream out, err;
  std::array<char, kRelayBuffer.count> in;
  std::array<char, kOutputTail.count> out_tail, err_tail;
  RelayReport report;
};

class Relay {
 public:
  Relay(RelayJob job, Liveness liveness, RelayMemory& memory);
  // Until the jail and its peer are done with, or dead.
  void run();

 private:
  enum class Stage { Live, Drained, Delivering, Over };

  // relay.cpp: one turn of the loop
  bool prepare_peers();
  void watch();
  [[nodiscard]] int patience();
  [[nodiscard]] bool must_die() const;
  void die();
  void take_streams();
  const char* attach(FdList& fds);
  void pump();
  std::span<OutStream> outs() { return {outs_.data(), order_.terminal == 1 ? 1u : 2u}; }
  [[nodiscard]] bool every_sink_gone() const;

  // relay_stages.cpp: what the supervisor orders, and what time brings
  void take_commands();
  [[nodiscard]] bool obey(const RelayMessage& message, FdList& fds);
  bool arm(const RelayMessage& message, FdList& fds);
  void arm_late();
  void open_gate();
  void resize();
  void send_signal(int number) const;
  void drain();
  Reached drain_once();
  void end_complete_streams();
  void finish(std::string_view text);
  void deliver();
  void keep_time();

  RelayOrder order_;
  Liveness liveness_;
  RelayMemory& memory_;
  Fd control_, stream_;
  Reporter reporter_;
  OutputBudget budget_;
  std::array<OutStream, 2> outs_;  // stdout or the terminal; stderr
  InStream in_;
  KillSwitch kill_;
  char kill_text_[16] = {};

  PollSet polls_;
  struct {
    PollSet::Place keeper = -1, supervisor = -1, control = -1, stream = -1, jail = -1;
  } places_;
  Stage stage_ = Stage::Live;
  RelayMessage message_;                  // the command at hand
  std::uint16_t columns_ = 0, rows_ = 0;  // to be set; 0: nothing to do
  Microseconds now_{0};
  Microseconds idle_at_ = InStream::kNever, backup_at_ = InStream::kNever, stall_at_ = InStream::kNever;
  bool opened_ = false, peer_gone_said_ = false, ceiling_said_ = false;
};

}  // namespace mayfly
