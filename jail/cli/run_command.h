// What `mayfly run` and `mayfly shell` do once their command line is read: a private engine, one session, the end.
#pragma once

#include "jail/cli/run_request.h"

namespace mayfly {

// The exit status. Reads the configuration, as the service would.
Expected<int> run_privately(const RunOptions& options);

}  // namespace mayfly
