// Spec: the immutable, fully resolved order for one jail. No optional is left, every number is final.
#pragma once

#include <string>
#include <vector>

#include "jail/spec/controls.h"
#include "jail/spec/jail_id.h"
#include "jail/spec/limits.h"
#include "jail/spec/request.h"

namespace mayfly {

// A piece of argv or of a file: our own text, or a range of the payload memfd.
struct Text {
  bool in_payload = false;
  std::string own;  // when !in_payload
  std::uint64_t offset = 0, length = 0;
};

struct SpecFile {
  std::string name;  // relative to the home directory, already judged safe
  std::uint64_t offset = 0, length = 0;
  bool executable = false;
  bool is_code = false;  // the code itself, under its language's name
};

enum class Terminal : std::uint8_t { None, Wanted };

struct Spec {
  JailId id;
  OriginKind origin = OriginKind::Cli;
  Door door = Door::Exec;
  std::string peer, principal, profile, language, label;
  bool has_seed = false;       // its profile's `seed` in the home directory
  bool has_data = false;       // its profile's `readonly` at /data
  std::uint32_t bind_row = 0;  // which trees of the host it sees (wire/bind_table.h): its profile's
  std::string command;         // for people: what was asked, cut at 200 bytes on a character boundary, not escaped
  Limits limits;
  ControlSet require;
  std::vector<Text> argv;
  std::vector<SpecFile> files;
  std::vector<std::string> environment;  // "HOME=/home/run": exactly what the program sees
  Terminal terminal = Terminal::None;
  TerminalSize size;
  Milliseconds queue_wait{};
  bool reproducible = false;
};

}  // namespace mayfly
