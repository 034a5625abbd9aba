// The monitor socket: operators' tools (`mayfly ps`, `kill`, `status`, `drain`; later `mayfly top`).
// Rights: readers may ask Status and Jails; operators may also Kill, Drain and handle invites (permits.h).
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

// An invite: a code that lets its bearer in over SSH, as one profile, until it expires or is used up.
inline constexpr std::uint32_t kMostInvitesAtOnce = 500;
inline constexpr std::uint64_t kLongestInviteMs = 366ull * 24 * 3'600'000;
struct NewInvites {
  std::string name;                   // of the first and only, or the stem of "ana-01", "ana-02", ...
  std::string profile;                // the user name that it is for
  std::uint64_t for_ms = 0;           // 1000..kLongestInviteMs from now
  std::uint32_t count = 1;            // 1..kMostInvitesAtOnce
  std::optional<std::uint32_t> uses;  // logins; without: any number
};
struct AskInvites {};
struct RevokeInvite {
  std::string name;
};
using FromMonitor = std::variant<AskStatus, AskJails, KillJails, Drain, NewInvites, AskInvites, RevokeInvite>;

struct Status {
  std::string instance, version;
  std::uint64_t started_unix_ms = 0;
  bool draining = false;
  std::uint32_t live = 0, queued = 0, unreleased = 0;
  std::uint64_t built = 0, refused = 0, failed = 0, leaks = 0;
  std::string cgroups;  // "v1", "v2", "none"
  bool root = false;
  std::string ssh, http;  // where they listen: "127.0.0.1:2222", or "off"
  std::uint64_t reloads = 0, reloads_refused = 0;
  std::string restart_needed;  // keys of the configuration that differ since the last reload: "access, host"
  std::string host_key;        // fingerprint, "SHA256:..."; "" without SSH
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
struct InviteRow {
  std::string name, profile;
  std::string code;  // only in the answer to NewInvites: nobody can tell it again
  std::uint64_t created_unix_ms = 0, expires_unix_ms = 0;
  std::optional<std::uint32_t> uses_left;
};
struct Invites {
  std::vector<InviteRow> rows;
  bool more = false;  // another frame follows
};
struct Revoked {
  std::uint32_t jails = 0;  // live ones of it that end now
};
struct Done {};
struct Denied {
  std::string text;
};
using ToMonitor = std::variant<Status, Jails, Killed, Done, Denied, Invites, Revoked>;

std::string encode(const FromMonitor& message);
std::string encode(const ToMonitor& message);
Expected<FromMonitor> decode_from_monitor(const Json& body);
Expected<ToMonitor> decode_to_monitor(const Json& body);

}  // namespace mayfly
