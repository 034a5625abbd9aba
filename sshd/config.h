// SshdConfig: what the keeper tells the SSH front end, as JSON in a sealed memfd (kSshdConfig, kSessionConfig):
//   {"lease": "/run/mayfly/lease.sock", "access": ["open"], "openOnNetwork": false,
//    "penaliseLoopback": false, "madeAhead": true}
// Only `lease` must be there. An unknown member is refused: it may be a restriction that this program does not know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jail/expected.h"
#include "jail/os/fd.h"
#include "jail/os/log.h"
#include "jail/spec/access.h"

namespace mayfly {

struct SshdConfig {
  std::string lease;               // path of lease.sock
  SshAccess access;                // which questions are worth asking; the supervisor judges
  bool open_on_network = false;    // `open` also where strangers can reach it
  bool penalise_loopback = false;  // for tests: entrance.h says why it is off
  bool made_ahead = true;          // session processes wait for the next connections (spare_sessions.h)
  Severity log_level = Severity::Info;
};

Expected<SshdConfig> decode_sshd_config(std::string_view text);
Expected<SshdConfig> read_sshd_config(const Fd& memfd);

}  // namespace mayfly
