// The monitor socket: operators' tools (`mayfly ps`, `kill`, `status`, `drain`; later `mayfly top`).
// Rights: readers may ask Status and Jails; operators may also Kill and Drain (permits.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "jail/spec/phase.h"
#include "jail/spec/request.h"
#include "jail/wire/frame.h"

namespace mayfly {

struct AskStatus {};
struct AskJails {};
struct KillJails {
  std::string target;  // a JailId, or a principal
};
struct Drain {};  // no new jails from now on; live ones go on
using FromMonitor = std::variant<AskStatus, AskJails, KillJails, Drain>;

struct Status {
  std::string instance, version;
  std::uint64_t started_unix_ms = 0;
  bool draining = false;
  std::uint32_t live = 0, queued = 0, unreleased = 0;
  std::uint64_t built = 0, refused = 0, failed = 0, leaks = 0;
  std::string cgroups;  // "v1", "v2", "none"
  bool root = false;
};
struct JailRow {
  std::string id, profile, principal, peer, command;
  OriginKind origin = OriginKind::Cli;
  Phase phase = Phase::Queued;
  std::uint64_t age_ms = 0, left_ms = 0;
  // Nothing where the host cannot tell, or does not limit.
  std::optional<std::uint64_t> memory_bytes, memory_limit, cpu_us, processes;
  std::int32_t pid = 0;  // host pid of its pid 1, 0 while there is none
};
struct Jails {
  std::vector<JailRow> rows;
  bool more = false;  // another frame follows
};
struct Killed {
  std::uint32_t count = 0;
};
struct Done {};
struct Denied {
  std::string text;
};
using ToMonitor = std::variant<Status, Jails, Killed, Done, Denied>;

std::string encode(const FromMonitor& message);
std::string encode(const ToMonitor& message);
Expected<FromMonitor> decode_from_monitor(const Json& body);
Expected<ToMonitor> decode_to_monitor(const Json& body);

}  // namespace mayfly
