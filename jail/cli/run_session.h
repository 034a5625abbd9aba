// RunSession: one run of `mayfly run` or `mayfly shell`, from Open to its end: the caller's standard streams, signals
// and terminal on one side, a SupervisorClient on the other.
//
// Signals: INT, TERM, QUIT, USR1 and USR2 go to the program; the second INT, TERM or QUIT cancels the run, the third
// gives up; the same one again within half a second is one request that came twice (timeout(1)). HUP: the peer is gone.
// WINCH: the size goes on. TSTP gives the terminal back while we are stopped.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "jail/client/supervisor_client.h"
#include "jail/wire/result_json.h"

namespace mayfly {

enum class Streams : unsigned char {
  Through,   // stdin, stdout and stderr as they are
  Captured,  // output is kept for --json
  Terminal,  // a pty in the jail, the caller's terminal in raw mode
};

struct RunOutcome {
  std::variant<Ended, Refused> last;
  Captured captured;         // with Streams::Captured; else what of stderr has not been written yet
  bool reason_seen = false;  // the reason line is among the output already
  bool quiet = false;        // our reader went away and the program died of SIGPIPE: nothing that needs words
  bool gave_up = false;      // a third signal
};

// Fails when the supervisor is gone, or when a stream of ours breaks.
Expected<RunOutcome> run_session(SupervisorClient& client, Request request, PayloadBuilder payload, Streams streams);

}  // namespace mayfly
