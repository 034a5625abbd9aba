// SshdConfig: what the keeper tells the SSH front end, as JSON in a sealed memfd (kSshdConfig, kSessionConfig):
//   {"lease": "/run/mayfly/lease.sock", "access": ["open"], "profiles": ["run", "python"], "openOnNetwork": false,
//    "penaliseLoopback": false}
// Only `lease` must be there. An unknown member is refused: it may be a restriction that this program does not know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jail/expected.h"
#include "jail/os/fd.h"
#include "jail/os/log.h"

namespace mayfly {

enum class Access : unsigned char { Open };

struct SshdConfig {
  std::string lease;                                      // path of lease.sock
  std::vector<Access> access = {Access::Open};            // ways in; a login is good when one of them takes it
  std::vector<std::string> profiles = {"run", "python"};  // the user names that exist
  bool open_on_network = false;                           // `open` also where strangers can reach it
  bool penalise_loopback = false;                         // for tests: entrance.h says why it is off
  Severity log_level = Severity::Info;

  [[nodiscard]] bool allows(Access way) const;
  [[nodiscard]] bool knows_profile(std::string_view name) const;
};

Expected<SshdConfig> decode_sshd_config(std::string_view text);
Expected<SshdConfig> read_sshd_config(const Fd& memfd);

}  // namespace mayfly
