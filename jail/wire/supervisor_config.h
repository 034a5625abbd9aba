// SupervisorConfig: what the keeper tells the supervisor at start: the policy and where things are.
// JSON in a sealed memfd; written by the keeper from the configuration file and the command line.
#pragma once

#include <string>

#include "jail/os/log.h"
#include "jail/spec/policy.h"
#include "jail/wire/frame.h"

namespace mayfly {

struct SupervisorConfig {
  std::string instance;       // 12 lower-case hex digits: names cgroups "mayfly-<instance>"
  std::string run_directory;  // holds instances/<instance>.lock files of every engine of this user
  bool rootless = false;
  bool private_engine = false;  // `mayfly run`: kSupervisorLease is connected, its role is Cli
  std::uint32_t uid_base = 0;   // 0 rootless
  bool use_cgroups = true;      // false: a test of hosts without
  std::string version;
  Severity log_level = Severity::Info;
  Policy policy;
};

Json encode(const SupervisorConfig& config);
Expected<SupervisorConfig> decode_supervisor_config(const Json& body);

}  // namespace mayfly
