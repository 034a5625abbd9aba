// What a session serves, and how its listener brings it: one message on kSessionHandover (wire/startup.h), of one byte
// and three descriptors. So a session can be started before its peer is there (session_process.h), and serves one peer
// all the same: it takes one message and closes its side.
#pragma once

#include <optional>

#include "jail/expected.h"
#include "jail/os/fd.h"

namespace mayfly {

struct SessionDescriptors {
  Fd connection;  // TCP, accepted
  Fd lease;       // connected to lease.sock by the listener, whose pid is announced
  Fd report;      // the end of a pipe that is written (session_end.h)
};

// Does not wait. Takes `own` over; a failure leaves it as it was (EPIPE: the session has ended).
Expected<void> hand_over(const Fd& to, SessionDescriptors& own);

// Waits. Nothing: the listener has closed its side, and there is nobody to serve.
Expected<std::optional<SessionDescriptors>> take_over(const Fd& from);

}  // namespace mayfly
