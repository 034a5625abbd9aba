// SpareSessions: a few session processes that have been started before their peers are there, so that nobody waits for
// the dynamic linker, libcrypto's start and the session's own confinement: a third of a short connection's time.
// Each is a process like any other session's, exec'd for one connection, of which it has seen nothing yet. It holds the
// host key, no lease, and no right to anything.
//
// They are made one after the other in quiet moments, and one at once when somebody has left and there is none: at the
// beginning of a connection all processors are wanted for that one. Owner: Listener, while it runs.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "jail/os/event_loop.h"
#include "sshd/session_process.h"

namespace mayfly {

inline constexpr std::size_t kMostSpareSessions = 4;  // 1.1 MiB of its own each; a burst is served from them

class SpareSessions {
 public:
  // `loop` outlives this. Not `wanted`: there are never any.
  SpareSessions(EventLoop& loop, std::string program, bool wanted);

  // For whoever has somebody to be served. Nothing: there is none now.
  std::optional<SessionProcess> take();

  void somebody_left();

 private:
  void make();
  void ended(int pidfd);

  EventLoop& loop_;
  std::string program_;
  bool wanted_;
  bool one_ended_ = false;              // by itself, since the last peer: what ended it may end the next
  std::deque<SessionProcess> waiting_;  // the oldest first
};

}  // namespace mayfly
