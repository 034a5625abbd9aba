// Channel: one session channel and the one jail that it may have, from the request that starts it to its exit status.
//
//   Idle -> Asked -> Running -> Over -> Closed          the ordinary way
//   Idle -> Closed, Asked|Running -> Abandoned -> Closed  the peer closed the channel first
//
// advance() does everything that can be done now and never waits. Owner: Connection.
#pragma once

#include <poll.h>

#include <memory>
#include <optional>
#include <vector>

#include "jail/client/supervisor_client.h"
#include "sshd/session/greeting.h"
#include "sshd/session/pump.h"
#include "sshd/session/warnings.h"

namespace mayfly {

// Whose session this is; every jail of the connection is asked for in this name.
struct SessionOwner {
  std::string profile;
  std::string peer;                    // "192.0.2.1:50422"
  std::string principal;               // "anonymous@192.0.2.1", "invite:ana"
  std::optional<std::string> command;  // runs instead of whatever is asked for
};

enum class ChannelPhase : unsigned char {
  Idle,       // opened, nothing asked for yet
  Asked,      // Open is sent: queued or being built
  Running,    // the gate is open
  Over,       // how it ended is known; what is left is on its way to the peer
  Abandoned,  // the peer has closed the channel; the jail's end is awaited
  Closed,     // our CLOSE is sent
};

class Channel {
 public:
  static std::unique_ptr<Channel> open(Transport& transport);  // null: libssh has no memory

  [[nodiscard]] ssh_channel handle() const { return port_->channel(); }
  [[nodiscard]] std::optional<RunNumber> run() const { return run_; }
  [[nodiscard]] bool has_said_all() const { return phase_ == ChannelPhase::Closed; }
  [[nodiscard]] bool is_finished() const { return phase_ == ChannelPhase::Closed && port_->peer_closed(); }
  [[nodiscard]] bool broke_protocol() const { return port_->flooded() || port_->window_shrank(); }
  [[nodiscard]] bool has_live_run() const;

  void advance(SupervisorClient& client, const SessionOwner& owner, Microseconds now);
  void receive(const FromSupervisor& message);  // one that names our run
  void engine_is_gone(Microseconds now);        // no message will come any more
  void add_interest(std::vector<pollfd>& entries) const;
  void release() { port_->detach(); }  // only when finished
  void judge_window() { port_->judge_window(); }
  [[nodiscard]] std::optional<Microseconds> deadline() const;  // when advance() has something to say or to give up

 private:
  Channel(Transport& transport, std::unique_ptr<ChannelPort> port) : transport_(transport), port_(std::move(port)) {}

  void begin(SupervisorClient& client, const SessionOwner& owner);
  Expected<void> ask(SupervisorClient& client, const SessionOwner& owner);
  void pass_wishes(SupervisorClient& client);
  void note_peer_close(SupervisorClient& client);
  void pump(Microseconds now);
  void warn(Microseconds now);
  void say_unsaid(Microseconds now);
  void give_up_late(Microseconds now);
  void finish();
  void end_refused(std::string text);
  void on(const Queued& queued);
  void on(const Running& running);
  void on(const Refused& refused);
  void on(const Ended& ended);

  [[nodiscard]] LineEnd line_end() const { return terminal_ ? LineEnd::Terminal : LineEnd::Plain; }
  [[nodiscard]] bool may_pump() const;

  Transport& transport_;
  std::unique_ptr<ChannelPort> port_;
  ChannelPhase phase_ = ChannelPhase::Idle;
  std::optional<RunNumber> run_;
  bool terminal_ = false;
  bool shell_ = false;
  bool ran_ = false;
  Outlet out_{Stream::Out};
  Outlet err_{Stream::Err};
  Inlet in_;
  std::optional<Limits> shell_limits_;         // of a shell on a terminal: who sits there is warned of them
  std::optional<Warnings> warnings_;           // from the turn in which it runs
  std::optional<int> exit_status_;             // one of the two once Over
  std::string exit_signal_;                    // without SIG
  std::string unsaid_;                         // our last line, in case that no relay has said it
  bool engine_gone_ = false;                   // then no relay has, whatever came from the jail
  std::optional<Microseconds> streams_until_;  // what the jail wrote last is waited for until then
  std::uint64_t delivered_ = 0;                // at progress_at_
  std::optional<Microseconds> progress_at_;    // while Over: when the peer last took a byte
};

}  // namespace mayfly
