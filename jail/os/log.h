// Log lines: a stable code, fields, one line each, foreign bytes escaped (house style 16).
//   log_line(Severity::Warning, "jail.build_failed", {{"jail", id}, {"step", "MakeRoot"}}, "run \"mayfly doctor\"");
// prints  2026-01-01T00:00:00.000Z warning jail.build_failed jail=j_abc step=MakeRoot: run "mayfly doctor"
// to stderr, by one write(2) and without a lock, so that several of our processes can share the stream.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "jail/expected.h"

namespace mayfly {

enum class Severity : unsigned char { Debug, Info, Warning, Error };
std::string_view name(Severity severity);  // "debug"
std::optional<Severity> severity_named(std::string_view word);

void set_log_threshold(Severity least);  // process-wide; set once, at the start of main
void log_line(Severity severity, std::string_view code,
              std::initializer_list<std::pair<std::string_view, std::string>> fields, std::string_view text = {});
void log_failure(std::string_view code, const Failure& failure);

}  // namespace mayfly
