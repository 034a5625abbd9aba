// Listener: accepts TCP connections and gives each to a session process of its own. It reads no byte of a peer.
// Per connection it also connects to lease.sock, so that the pid which the supervisor sees is the announced one.
// Ends when the keeper ends. Owner: main of mayfly-sshd.
#pragma once

#include <string>
#include <unordered_map>

#include "jail/os/event_loop.h"
#include "jail/os/peer.h"
#include "sshd/config.h"
#include "sshd/session_process.h"
#include "sshd/source_limits.h"

namespace mayfly {

class Listener {
 public:
  // Fails when `open` access would be offered to a network without the configuration saying so.
  static Expected<Listener> make(Fd socket, SshdConfig config, std::string session_program);

  Expected<void> run(const Fd& keeper);  // until the keeper is gone

 private:
  struct Session {
    SessionProcess process;
    std::string source;
  };

  Listener(Fd socket, SshdConfig config, std::string program, EventLoop loop, Fd spare)
      : socket_(std::move(socket)),
        config_(std::move(config)),
        program_(std::move(program)),
        loop_(std::move(loop)),
        spare_(std::move(spare)) {}

  void accept_waiting();
  bool accept_one();
  void serve(Fd connection);
  Expected<void> start_session(Fd connection, const Peer& peer);
  void session_ended(int pidfd);
  void shed_one();
  void note_dropped(const char* why, const std::string& source);

  Fd socket_;
  SshdConfig config_;
  std::string program_;
  EventLoop loop_;
  Fd spare_;  // given up for a moment when descriptors run out, so that a connection can be refused and not left
              // waiting
  SourceLimits limits_{kMostConnections, kMostPerSource};
  std::unordered_map<int, Session> sessions_;  // by pidfd
  std::uint64_t dropped_ = 0;                  // since the last line about it
  Microseconds dropped_told_{0};
};

}  // namespace mayfly
