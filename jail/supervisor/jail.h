// Jail: one jail from its request to its release; owner of its kernel objects, and the only writer of its phase
// (spec/phase.h). Building and running are in jail.cpp, the end in ending_sequence.cpp.
//
//   jail.build(slot)            Queued -> Building: plan to the builder, order to the witness template
//   (Cloned, Attached, AtGate)  -> Gated: measured, judged -> Running
//   jail.end(decision)          from anywhere; the first decision of an ending wins
//   (dead, drained, removed)    -> Closed -> Recorded: JailEvents::jail_result
//   (builder's Released)        -> Released
//
// Owner: JailTable. Side: outside. Nothing here fails outwards: a failure is an ending of this jail.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "jail/spec/phase.h"
#include "jail/supervisor/relay_link.h"
#include "jail/supervisor/surroundings.h"
#include "jail/supervisor/timer.h"
#include "jail/wire/monitor.h"

namespace mayfly {

// Whose it is: a run number on a front end's connection.
struct Lessee {
  std::uint64_t front_end = 0;
  RunNumber run = 0;
};

// What came with the request: the peer's ends of its streams, and the sealed payload.
struct PeerFds {
  Fd out, err, in, payload;
  std::uint64_t payload_bytes = 0;
};

class Jail final : private RelayEvents {
 public:
  Jail(Surroundings& around, Spec spec, PeerFds peer, Lessee lessee);
  Jail(const Jail&) = delete;
  Jail& operator=(const Jail&) = delete;
  ~Jail() override = default;

  [[nodiscard]] const Spec& spec() const { return spec_; }
  [[nodiscard]] Phase phase() const { return phase_; }
  [[nodiscard]] Lessee lessee() const { return lessee_; }
  [[nodiscard]] std::optional<std::uint32_t> slot() const { return slot_; }
  [[nodiscard]] const Controls& controls() const { return controls_; }
  [[nodiscard]] std::uint64_t payload_bytes() const { return peer_.payload_bytes; }
  [[nodiscard]] bool is_over() const { return phase_ >= Phase::Recorded; }
  // Its front end has had Running.
  [[nodiscard]] bool running_told() const { return running_told_; }
  [[nodiscard]] bool has_left() const { return left_; }
  [[nodiscard]] JailRow row(Microseconds now) const;

  void build(std::uint32_t slot);
  void end(Decision decision);
  void signal(int number);
  void resize(TerminalSize size);

  void builder_says(const BuilderReply& reply, Fd pidfd);
  void builder_gone();

 private:
  // Where an ending is. The phase is Ending all along.
  enum class Stage : std::uint8_t { None, AwaitBuilder, AwaitDeath, AwaitClosed, Done };

  bool advance(Event event);
  // jail.cpp
  Expected<void> assemble();
  Expected<void> order_build(Fd gate, Fd stream, bool prepared);
  Expected<void> order_relay(Fd control, Fd stream);
  Expected<void> watch_memory();
  void cloned(const BuilderReply& reply, Fd pidfd);
  void read_gate();
  bool read_gate_once();
  void gate_says(const GateMessage& message, pid_t sender);
  void gate_closed();
  void placed(const GateMessage& message, pid_t sender);
  void judge_gate();
  [[nodiscard]] Expected<Controls> measure_at_gate() const;
  void open_gate();
  void start_clocks();
  void tell_running();
  [[nodiscard]] Milliseconds earliest_cpu_limit(Microseconds used) const;
  void check_cpu();
  void look_for_oom();
  void relay_says(const RelayReport& report) override;
  void relay_gone() override;
  void relay_dead() override;
  // ending_sequence.cpp
  void end_unstarted(const Decision& decision);
  void strike();
  void kill();
  void look_at_disk();
  void pid1_ended();
  void after_death();
  void drained(const RelayReport& report);
  void await_drained();
  void lose_output();
  void account();
  void remove_group();
  void close();
  void announce();
  void finish_relay(const std::string& line);
  void await_release();
  void release();
  void await_relay();
  void leave();

  Surroundings& around_;
  Spec spec_;
  Lessee lessee_;
  Phase phase_ = Phase::Queued;
  Stage stage_ = Stage::None;
  std::optional<std::uint32_t> slot_;
  Decision decision_;
  std::optional<Expected<Controls>> placed_;  // the first half of measuring
  Controls controls_;
  Findings findings_;
  GateMessage proof_;
  pid_t pid1_ = 0, program_ = 0;
  bool plan_sent_ = false, build_answered_ = false, builder_lost_ = false;
  bool at_gate_ = false, attached_ = false, pid1_dead_ = false, gate_over_ = false;
  bool ends_itself_ = false;                         // pid 1 has told its last
  bool drained_ = false, group_is_removed_ = false;  // what closing waits for; or given up
  bool running_told_ = false;
  bool released_told_ = false, left_ = false;
  std::uint32_t oom_looks_ = 0;
  Milliseconds removal_delay_{1};
  Microseconds asked_{}, admitted_{}, opened_{}, decided_{};

  // Kernel objects, in build order.
  PeerFds peer_;
  JailCgroup group_;
  WatchedBorrowed oom_;
  Watched gate_;
  RelayLink relay_;
  Watched pidfd_;
  bool had_pid1_ = false;   // the builder has made one
  bool leak_told_ = false;  // each is counted once
  Timer limit_timer_, cpu_timer_, oom_timer_, stage_timer_, drain_timer_, news_timer_;
};

}  // namespace mayfly
