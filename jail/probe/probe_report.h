// What mayfly-probe printed: one JSON object per line. The bytes come out of a jail, so they are foreign: a line that
// is not exactly of the form is dropped and counted, never believed. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mayfly {

struct ProbeLine {
  std::string attack;  // [a-z0-9-], at most 40
  bool held = false;
  std::string answer;  // errno or signal name, "" when it worked; at most 80, escaped
};

struct ProbeReport {
  std::vector<ProbeLine> lines;  // each attack once, in order
  std::size_t dropped = 0;
  [[nodiscard]] const ProbeLine* find(std::string_view attack) const;
};

ProbeReport read_probe_report(std::string_view text);

}  // namespace mayfly
