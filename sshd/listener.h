// Listener: accepts TCP connections and gives each to a session process of its own, or refuses it (entrance.h). It
// reads no byte of a peer: what it knows of one comes from the kernel and from the session (session_end.h). Per
// connection it also connects to lease.sock, so that the pid which the supervisor sees is the announced one. Ends when
// the keeper ends or a signal asks for it. Owner: main of mayfly-sshd.
//
// Log: `sshd.dropped`, once a second at most, counts for each reason what was refused since the last such line, and
// names the last source; `sshd.summary` at the end counts everything.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "jail/os/event_loop.h"
#include "jail/os/peer.h"
#include "sshd/config.h"
#include "sshd/entrance.h"
#include "sshd/session_process.h"
#include "sshd/spare_sessions.h"

namespace mayfly {

class Listener {
 public:
  // Fails when `open` access would be offered to a network without the configuration saying so.
  static Expected<Listener> make(Fd socket, SshdConfig config, std::string session_program);

  Expected<void> run(const Fd& keeper, const Fd& stop);  // until one of them is readable

 private:
  struct Session {
    SessionProcess process;
    Fd report;  // until it is read, or can say nothing any more
    Guest guest;
  };

  Listener(Fd socket, SshdConfig config, std::string program, EventLoop loop, Fd spare);

  void accept_waiting();
  bool accept_one();
  void serve(Fd connection);
  void tell_not_started(const Failure& why) const;
  Expected<void> start_session(Fd& connection, const Peer& peer);  // taken once there is all that a session needs
  Expected<SessionProcess> session_for(SessionDescriptors& own);
  Expected<void> watch(Session session);
  void take_report(Session& session);
  void session_ended(int pidfd);
  void shed_one();
  void refuse(Refusal why, const std::string& source);
  void tell_refusals();

  Fd socket_;
  SshdConfig config_;
  std::string program_;
  EventLoop loop_;
  std::optional<SpareSessions> spare_sessions_;  // while running
  Fd spare_;  // given up for a moment when descriptors run out, so that a connection can be refused and not left
              // waiting
  Entrance entrance_;
  std::unordered_map<int, Session> sessions_;  // by pidfd
  std::uint64_t accepted_ = 0;                 // all that were given to a session
  std::uint64_t admitted_ = 0;                 // of these, those whose peer logged in
  Refusals refusals_;
  std::string last_refused_;
  Microseconds refusals_told_{0};
  bool telling_is_due_ = false;
};

}  // namespace mayfly
