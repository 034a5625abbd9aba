// What a session tells its listener about itself: one byte on the report pipe (handover.h) as soon as its peer is
// admitted, and its exit status when it ends. Both are claims: a session that was taken over can spare its own peer a
// penalty with them, and can do nothing else (docs/threat-model.md).
#pragma once

#include <sys/wait.h>

#include <csignal>
#include <cstdint>

namespace mayfly {

inline constexpr char kPeerIsAdmitted = 'A';

// The numbers are exit statuses; OwnFailure is what any failure of main gives.
enum class SessionEnd : std::uint8_t {
  Served = 0,
  OwnFailure = 1,
  NeverAuthenticated = 2,  // the peer left before login and had tried nothing
  FailedLogin = 3,         // it tried, and was refused to the end
  GraceExceeded = 4,       // it was not admitted in time
  BadProtocol = 5,         // what it sent was not SSH, or not in its turn
  EndlessTurn = 254,       // said by nobody: the kernel ended it (session/turn_watch.h); a peer can bring that about
  Crashed = 255            // said by nobody: another signal ended the session
};

// `status` as of waitpid(2). SIGALRM is the kernel's end of the grace time, set by the session itself; TERM, INT, HUP
// and KILL come from this host, and the peer has no part in them.
inline SessionEnd session_end(int status) {
  if (WIFEXITED(status)) {
    const int said = WEXITSTATUS(status);
    return said <= static_cast<int>(SessionEnd::BadProtocol) ? static_cast<SessionEnd>(said) : SessionEnd::OwnFailure;
  }
  switch (WTERMSIG(status)) {
    case SIGALRM:
      return SessionEnd::GraceExceeded;
    case SIGPROF:
      return SessionEnd::EndlessTurn;
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
    case SIGKILL:
      return SessionEnd::OwnFailure;
    default:
      return SessionEnd::Crashed;
  }
}

}  // namespace mayfly
