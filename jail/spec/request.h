// Request: what a peer asked for. Untrusted; every optional is still optional. resolve() makes a Spec of it.
// Large bytes (code, command text, arguments, files) are not in here: they lie in one sealed memfd, the payload,
// and PayloadPart says where.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jail/spec/controls.h"
#include "jail/spec/limits.h"

namespace mayfly {

enum class OriginKind : std::uint8_t { Ssh, Api, Cli };
std::string_view name(OriginKind kind);  // "ssh", "api", "cli"

struct TerminalSize {
  std::uint16_t columns = 80;  // 1..1000
  std::uint16_t rows = 24;     // 1..1000
  friend bool operator==(const TerminalSize&, const TerminalSize&) = default;
};

struct TerminalRequest {
  TerminalSize size;
  std::string term;  // as the client named it; resolve() takes it only if it looks like a terminfo name
};

enum class PayloadKind : std::uint8_t {
  Code,      // source text: becomes a file in the home directory (at most one)
  Command,   // text for `sh -c`, or source for a language profile over SSH (at most one)
  Argument,  // one argv entry, in order. Without Code and Command: the argv itself (`mayfly run -- CMD ...`)
  File,      // a file of the request, by relative name
};

struct PayloadPart {
  PayloadKind kind = PayloadKind::Code;
  std::string name;          // File only
  std::uint64_t offset = 0;  // in the payload memfd
  std::uint64_t length = 0;
  bool executable = false;  // File only: mode 0700 instead of 0600
};

struct Request {
  OriginKind origin = OriginKind::Cli;
  std::string peer;       // "127.0.0.1:50422", or "" for the command line; shown, never parsed
  std::string principal;  // "anonymous@127.0.0.1", "uid 1000"
  std::string profile = "run";
  std::string language;  // of Code; "" = the profile's own
  std::vector<PayloadPart> payload;
  std::uint64_t payload_bytes = 0;  // size of the memfd, 0 = none
  std::optional<TerminalRequest> terminal;
  LimitRequest limits;
  ControlSet require;  // added to the configured ones
  bool reproducible = false;
  std::string label;  // at most 200 bytes, shown escaped
  std::optional<std::uint64_t> queue_ms;
};

}  // namespace mayfly
