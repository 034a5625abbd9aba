// The body of POST /api/run (design section 8) as a Request and its payload. Pure. Every field is judged by name;
// unknown, duplicate and ill-typed ones are refused. The ranges of limits are the supervisor's to judge.
#pragma once

#include <string>
#include <string_view>

#include "jail/client/supervisor_client.h"

namespace mayfly::api {

inline constexpr std::size_t kMaxBody = std::size_t{16} << 20;
inline constexpr std::size_t kMaxDepth = 64;  // hostile.md C07

struct RunOrder {
  Request request;
  PayloadBuilder payload;
  std::string stdin_bytes;
};

// `peer`: "127.0.0.1:50422", from the socket alone; `source`: the same without the port.
Expected<RunOrder> read_run_body(std::string_view body, std::string_view peer, std::string_view source);

}  // namespace mayfly::api
