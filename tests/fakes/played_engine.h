// PlayedEngine: a real supervisor core on a thread of its own, with everything around it played by the test through the
// real sockets: keeper, builder, witness template, relay, the inside of a jail, and front ends. pid 1 is a real child
// that sleeps, so that killing and pidfds are real; control groups are those of a host without.
//
//   PlayedEngine engine;
//   auto run = engine.open(engine.client(), exec_request());
//   PlayedJail jail = engine.take_jail();      // what the builder and the witness were sent
//   jail.run();                                // cloned, attached, at the gate, opened
//   jail.exit_with(3);
//   CHECK(engine.ended(...).ending == Ending::Exited);
//
// Every wait is bounded (kPatience) and throws PlayedOut with what was waited for.
#pragma once

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "jail/client/supervisor_client.h"
#include "jail/os/child.h"
#include "jail/supervisor/supervisor.h"
#include "jail/wire/gate.h"
#include "jail/wire/relay.h"

namespace mayfly::played {

using namespace mayfly::literals;
inline constexpr Milliseconds kPatience = 8_s;

struct PlayedOut : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A child of the test that sleeps until it is killed.
class Sleeper {
 public:
  Sleeper();
  Sleeper(Sleeper&& other) noexcept : pid_(std::exchange(other.pid_, 0)), pidfd_(std::move(other.pidfd_)) {}
  Sleeper& operator=(Sleeper&&) = delete;
  ~Sleeper();
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }
  [[nodiscard]] bool is_dead() const { return has_ended(pidfd_); }
  void kill();
  void await_death() const;

 private:
  pid_t pid_ = 0;
  Fd pidfd_;
};

// One jail, played from its other ends.
struct PlayedJail {
  Plan plan;
  RelayOrder order;
  Fd gate, stream, payload;  // inside
  Fd control, relay_stream;  // relay
  std::vector<Fd> peer;      // the peer's descriptors, as the relay got them
  Sleeper init;
  int builder = -1;           // our end of the builder's socket, borrowed
  bool sees_death = false;    // the relay was given pid 1's pidfd
  bool was_prepared = false;  // the builder was told before the plan came
  bool has_parts = true;      // the builder found a network namespace made ahead

  void say_cloned();
  void say_failed(Step step, int error);
  void say_released();
  void say_attached() { report(RelaySays::Attached); }
  void say_placed();
  void say_at_gate();
  void say_at_gate_as_another();  // from another process than everything else
  void say_step_failed(Step step, int error);
  void say_ended(int wait_status);
  void report(RelaySays says);
  RelayMessage next_command(RelayCommand wanted);  // skips none: another command is an error
  GateCommand next_gate_command();
  void drain(RelayTotals out = {}, bool incomplete = false);  // as a relay that sees pid 1 die, or else hears Drain
  std::string finish();                                       // awaits Finish; its text
  void relay_exits();

  void reach_gate();  // everything up to AtGate
  void run();         // and the gate is opened
  void exit_with(int code) { say_ended(code << 8); }
};

// The raw lease connection of a front end that does not keep to the contract.
struct RawPeer {
  Fd socket;
  void send(const std::string& text, std::vector<int> fds = {}) const;
  [[nodiscard]] Json next() const;  // one frame
  void await_close() const;
};

struct EngineOptions {
  Policy policy;
  bool builder_ready = true;
  bool service = false;  // lease.sock and monitor.sock in `directory`
  std::string directory;
  std::function<Expected<Controls>()> placed;    // the first half of measuring; default: nothing is wrong
  std::function<Expected<Controls>()> measured;  // at the gate; default: every control is there
  int relay_process = -1;                        // pidfd, borrowed; -1: nobody knows the relay's process
};

class PlayedEngine {
 public:
  explicit PlayedEngine(EngineOptions options = {});
  ~PlayedEngine();

  // Private engine: the one connection that there is.
  SupervisorClient& client() { return *client_; }
  SupervisorClient connect_as(Role role, std::uint32_t uid);  // service: announces this process, then connects
  void announce(Role role, std::uint32_t uid);
  void forget_front_end();

  RunNumber open(SupervisorClient& from, Request request);
  FromSupervisor next(SupervisorClient& from);
  template <typename T>
  T next_as(SupervisorClient& from) {
    FromSupervisor message = next(from);
    if (auto* wanted = std::get_if<T>(&message)) return std::move(*wanted);
    throw PlayedOut("another message than wanted: " + encode(message));
  }
  PlayedJail take_jail();
  [[nodiscard]] bool has_plan() const;  // whether the builder was sent one more

  void builder_says_ready();
  void builder_dies() { builder_.reset(); }
  void builder_starts_anew();
  void witness_dies() { witness_.reset(); }
  void witness_starts_anew();
  void order_stop();
  void keeper_dies() { keeper_process_.kill(); }
  void await_end();  // the supervisor's loop returned

  RunStreams streams;  // of the last open()
  Fd private_lease;    // raw, when the test takes it before any client is used

 private:
  void tell_keeper_word(KeeperSays says, int fd, Role role, std::uint32_t uid);

  Sleeper keeper_process_;
  Fd builder_, witness_, keeper_;
  std::unique_ptr<SupervisorClient> client_;
  std::string lease_path_;
  std::thread thread_;
  std::atomic<bool> over_{false};
};

Request exec_request(OriginKind origin = OriginKind::Cli);
Controls all_controls();
void await_readable(int fd, const char* what);

}  // namespace mayfly::played
