// Settings: what the configuration file says, held against the allowed ranges (design section 9). Only keys that this
// version honours are accepted; every other key refuses the start. etc/mayfly.jsonc shows all of them.
#pragma once

#include <string>
#include <vector>

#include "jail/cli/config_text.h"
#include "jail/cli/paths.h"
#include "jail/os/log.h"
#include "jail/spec/access.h"
#include "jail/spec/policy.h"

namespace mayfly {

struct Settings {
  std::string ssh = "127.0.0.1:2222";  // ADDR:PORT or "off"
  std::string http = "127.0.0.1:8802";
  SshAccess ssh_access;
  bool open_on_network = false;  // the only words that let an open door face a network
  bool usr_local = false;        // jails see /usr/local
  Severity log_level = Severity::Info;
  Policy policy;       // of this host
  std::string source;  // the file, or "" for the built-in defaults
};

Expected<Settings> read_settings(const ConfigText& text);

// The file named by --config, else the usual one where there is one, else the built-in defaults.
Expected<Settings> load_settings(Privilege privilege, const std::string& named);

// Part of read_settings: `limits` (config_limits.cpp).
Expected<void> read_limits(ConfigReader limits, Policy& policy);
// `profiles` (config_profiles.cpp), beside the built-in ones; looks at the folders that they name.
Expected<void> read_profiles(const ConfigReader& in, const Json& object, Catalogue& catalogue);

}  // namespace mayfly
