// One jail from its order: network, root, copies of the trees, clone3(2) of pid 1, id maps. Side: outside, and the last
// place that is; what it clones lives in inside/.
#pragma once

#include "jail/builder/host_facts.h"
#include "jail/builder/outside/nsids.h"
#include "jail/builder/outside/order.h"
#include "jail/builder/outside/parts.h"
#include "jail/builder/step_clock.h"
#include "jail/os/fd.h"

namespace mayfly {

// What a jail is cloned from, beside its order.
struct Workshop {
  const HostFacts& host;
  Nsids& nsids;
  PartsAhead& parts;
  int host_proc = -1;
  int network = -1;            // the builder's own network namespace
  int network_of_keeper = -1;  // only a weakened builder (faults.h) gives it to a jail
  int supervisor = -1;         // pidfd
  Parts prepared{};            // for the next plan (Prepare), or empty
};

struct Cloned {
  pid_t pid = 0;
  Fd pidfd;
  bool parts_made_ahead = false;
  std::uint32_t nsid = Nsids::kNone;
};

// A network namespace and a root for the plan that is about to come, unless there are some made ahead. Failing is no
// matter: the plan will meet the same, and say so.
void prepare(Workshop& shop);

// Both, anew: 0 or an errno. Furnish is the network's.
int make_parts(Workshop& shop, Furnish furnish, Parts& made);

// 0, or the errno of the step that `steps` is in; then nothing of the jail is left.
int clone_jail(Workshop& shop, const Order& order, StepClock& steps, Cloned& cloned);

// Kills pid 1 and waits until it is dead, kBuildLimit at most.
void destroy(const Cloned& cloned);

}  // namespace mayfly
