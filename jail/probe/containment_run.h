// The two ways in which an examination runs the probe: in a jail, through the ordinary client, and outside, as this
// user. Both are bounded in time and in what they keep. Private to jail/probe.
#pragma once

#include <string>
#include <vector>

#include "jail/client/supervisor_client.h"
#include "jail/probe/probe_report.h"

namespace mayfly {

struct JailOutcome {
  Result result;
  Controls controls;  // as reported when the gate opened
  ProbeReport report;
};

// What the probe is to do in a jail of which kind.
struct ProbeOrder {
  std::vector<std::string> arguments;  // what follows the program's name
  LimitRequest limits;
  std::string profile = "run";
};
// A Failure: there was no such jail (refused, or the supervisor is gone).
Expected<JailOutcome> run_in_jail(SupervisorClient& client, const std::string& probe_bytes, const ProbeOrder& order);

struct ControlOutcome {
  ProbeReport report;
  std::string not_tried;  // why, when it could not be started here
};
ControlOutcome run_outside(const std::string& probe_path, const std::vector<std::string>& arguments);

// The next message of the supervisor, waited for until `deadline`.
Expected<FromSupervisor> next_message(SupervisorClient& client, Microseconds deadline);

}  // namespace mayfly
