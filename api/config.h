// ApiConfig: what the keeper tells the api process at start: JSON in the sealed memfd under kApiConfig.
//   {"lease": "/run/mayfly/lease.sock", "hosts": ["localhost", "127.0.0.1", "[::1]"]}
#pragma once

#include <string>
#include <vector>

#include "jail/client/supervisor_client.h"
#include "jail/os/log.h"

namespace mayfly::api {

struct ApiConfig {
  std::string lease;               // path of lease.sock
  std::vector<std::string> hosts;  // names that a Host header may carry, without a port
  Severity log_level = Severity::Info;
};

Expected<ApiConfig> read_config(const Fd& memfd);

}  // namespace mayfly::api
