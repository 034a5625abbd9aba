// The builder's loop: orders in, replies out, parts made ahead while nothing else is to do. One thread, one poll(2).
#pragma once

#include "jail/builder/outside/clone_jail.h"

namespace mayfly {

struct LoopDescriptors {
  int keeper = -1;   // pidfd: we end with it
  int control = -1;  // the supervisor; closed means that it is gone, and so are we
};

enum class MakeAhead : bool { No, Yes };

// Returns when the keeper or the supervisor is gone.
void serve_orders(Workshop& shop, const LoopDescriptors& with, MakeAhead make_ahead);

}  // namespace mayfly
