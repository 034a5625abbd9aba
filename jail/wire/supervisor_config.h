// SupervisorConfig: what the keeper tells the supervisor at start: the policy and where things are.
// JSON in a sealed memfd; written by the keeper from the configuration file and the command line.
#pragma once

#include <string>

#include "jail/os/log.h"
#include "jail/spec/access.h"
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
  std::string state_directory;  // holds invites.json; "": no invites (a private engine)
  std::string ssh, http;        // where the front ends listen, for who asks; "off"
  std::string host_key;         // fingerprint of the SSH host key, for who asks; "" without SSH
  SshAccess access;
  Policy policy;
};

Json encode(const SupervisorConfig& config);
Expected<SupervisorConfig> decode_supervisor_config(const Json& body);
Expected<SupervisorConfig> read_supervisor_config(const Fd& memfd);  // sealed

// Into `running` from `fresh`: limits of jails and principals, the length of the queue and profiles (all of them, or
// none where the folders of one differ: other paths, or other directories behind them). What else differs is returned
// by its keys in the configuration, "access.ssh, host"; it stays as it is, so that what is reported is applied.
std::string take_settings(SupervisorConfig& running, SupervisorConfig fresh);

}  // namespace mayfly
