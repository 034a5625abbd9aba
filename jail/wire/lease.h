// The lease socket: what front ends and the supervisor say. A front end's rights are its connection; runs are
// numbered by the front end within it, so no message can name another front end's jail.
//
//   front end                                 supervisor
//   LogIn*  (SSH: before the first Open)  ->
//                                          <- LoginJudged          one for each; the first good one that is no
//                                                                  question ends them and says for whom Opens are
//   Open  (fds: out, err?, in?, payload?) ->
//                                          <- Queued (position)*     only while it waits
//                                          <- Running (controls)?    the gate is open; not of a run that ends at once
//                                          <- Refused | Ended        exactly one of them, last word on this run
//   Cancel | Signal | Resize              ->
//   AskHost                               <- Host
//
// Output bytes never pass here: the relay writes them to the descriptors of Open, and closes them when all is
// delivered. Ended may arrive before the last bytes: the result is known when both are there.
// What may be said is permits.h (role x message x phase); anything else closes the connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "jail/spec/request.h"
#include "jail/spec/result.h"
#include "jail/wire/frame.h"

namespace mayfly {

using RunNumber = std::uint32_t;  // chosen by the front end, unique among its live runs

// Descriptors of Open, in this order: out; err unless terminal; in if has_stdin; payload if payload_bytes > 0.
struct Open {
  RunNumber run = 0;
  bool has_stdin = false;
  Request request;
};
struct Cancel {
  RunNumber run = 0;
  Ending why = Ending::Cancelled;  // Cancelled or Disconnected
};
struct SignalRun {
  RunNumber run = 0;
  int signal_number = 0;
};
struct ResizeRun {
  RunNumber run = 0;
  TerminalSize size;
};
struct AskHost {};

// Somebody wants to come in over SSH. The supervisor judges; that the key's signature was good is the session's claim
// (its library exports no signature that could be checked again).
enum class LoginWay : std::uint8_t {
  None,      // nothing was shown
  Code,      // a password, or the answer to the question for a code
  KeyOffer,  // a question: would this key do? Admits nobody
  Key,       // this key has signed
};
struct LogIn {
  LoginWay way = LoginWay::None;
  std::string user;        // as the peer named it: a profile, or nonsense
  std::string credential;  // Code: as typed. Keys: the public key, base64 of RFC 4253 6.6
  std::string source;      // what its principal is named by: "192.0.2.1", "2001:db8::/64"
  std::string host;        // the peer's address without its port: "2001:db8::1"
};
inline constexpr std::size_t kMostCodeBytes = 256;        // longer ones are none, and not sent
inline constexpr std::size_t kMostKeyBase64 = 16 * 1024;  // an RSA key of 16384 bits has under 3 KiB
inline constexpr std::size_t kMostForcedCommand = 8 * 1024;
using FromFrontEnd = std::variant<Open, Cancel, SignalRun, ResizeRun, AskHost, LogIn>;

struct LoginJudged {
  bool good = false;                   // KeyOffer: sign with it. Otherwise: come in
  std::string principal;               // "anonymous@192.0.2.1", "invite:ana", "key:SHA256:..."; "" for a KeyOffer
  std::optional<std::string> command;  // runs instead of whatever is asked for
};

struct Queued {
  RunNumber run = 0;
  std::string id;
  std::uint32_t position = 0;  // 1 = next
};
struct Running {
  RunNumber run = 0;
  std::string id;
  Controls controls;
  Limits limits;
};

enum class RefusalKind : std::uint8_t {
  BadRequest,      // field, text with the range                        400
  QueueFull,       // the bounded queue, or this principal's share      429
  Quota,           // live jails, requests a second, CPU-seconds        429
  WaitedTooLong,   // queueMs over                                      429
  Draining,        // the service is stopping                           503
  ControlMissing,  // a required control is absent on this host         422
  UnknownProfile,  // no such profile or language                       404-like; ssh: as a wrong credential
};
std::string_view name(RefusalKind kind);  // "queue-full"

struct Refused {
  RunNumber run = 0;
  std::string id;  // "" for BadRequest
  RefusalKind kind = RefusalKind::BadRequest;
  std::string field;  // BadRequest: which; ControlMissing: the control
  std::string text;
  std::uint64_t retry_after_ms = 0;  // 0: do not come back with the same
};
struct Ended {
  RunNumber run = 0;
  Result result;
  bool after_running = false;  // its controls and limits were told with Running, and are not on the wire again
};

// What this host can and cannot do, found at the start of the service, for doctor and /api/containment.
struct HostControl {
  Control control = Control::Network;
  Measured expected = Measured::Absent;
  std::string cause;  // why it is absent here; "" when present
  std::string fix;    // a command or a setting
};
struct Host {
  std::string kernel;  // uname -r
  bool root = false;
  std::string cgroups;  // "v1", "v2", "none"
  std::vector<HostControl> controls;
  ControlSet required;
  std::vector<std::string> with_folders;  // profiles whose jails see directories of the host beyond the system's
};
// The connection is told what was wrong before it is closed.
struct Fault {
  std::string text;
};
using FromSupervisor = std::variant<Queued, Running, Refused, Ended, Host, Fault, LoginJudged>;

std::string encode(const FromFrontEnd& message);
std::string encode(const FromSupervisor& message);
Expected<FromFrontEnd> decode_from_front_end(const Json& body);
Expected<FromSupervisor> decode_from_supervisor(const Json& body);

}  // namespace mayfly
