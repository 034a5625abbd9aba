// One jail through a resident engine, timed from the request until its result may be handed out: Ended has arrived and
// both streams are at their end.
#pragma once

#include <string>
#include <vector>

#include "jail/client/supervisor_client.h"
#include "jail/spec/units.h"

namespace mayfly::bench {

struct Order {
  std::vector<std::string> argv;
  std::string program;  // bytes of an executable that is sent along as /home/run/program; "" = none
};

struct Timed {
  Microseconds time{};
  int status = 0;  // as `mayfly run` would exit
  Result result;
  std::string out;
};

// Blocks; any failure of the engine is one of the call.
Expected<Timed> run_once(SupervisorClient& client, const Order& order);

// Starts a run and returns when its gate is open; the run goes on. Its streams are in `held`.
struct Held {
  RunNumber run = 0;
  OwnEnds ends;
};
Expected<Held> hold_one(SupervisorClient& client, const Order& order);

}  // namespace mayfly::bench
