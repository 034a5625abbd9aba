#include "jail/probe/probe_report.h"

#include <algorithm>
#include <optional>

#include "jail/spec/escape.h"
#include "jail/wire/frame.h"

namespace mayfly {
namespace {

constexpr std::size_t kMostLines = 200;
constexpr std::size_t kMostLine = 512;
constexpr std::string_view kNameLetters = "abcdefghijklmnopqrstuvwxyz0123456789-";

Expected<ProbeLine> read_line(std::string_view text) {
  if (text.size() > kMostLine) return failure("read a line of the probe", 0, {}, "too long");
  const Json object = TRY(parse_json(text, 2));
  JsonReader in(object, "");
  ProbeLine line;
  line.attack = TRY(in.text("attack", 40));
  line.held = TRY(in.boolean("held", false));
  line.answer = escape(TRY(in.text("errno", 80)));
  TRY(in.finish());
  if (line.attack.empty() || line.attack.find_first_not_of(kNameLetters) != std::string::npos)
    return failure("read a line of the probe", 0, {}, "no name of an attack");
  return line;
}

}  // namespace

const ProbeLine* ProbeReport::find(std::string_view attack) const {
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const ProbeLine& l) { return l.attack == attack; });
  return found == lines.end() ? nullptr : &*found;
}

ProbeReport read_probe_report(std::string_view text) {
  ProbeReport report;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    Expected<ProbeLine> read = read_line(line);
    if (!read || report.lines.size() == kMostLines || report.find(read->attack) != nullptr) {
      ++report.dropped;
      continue;
    }
    report.lines.push_back(std::move(*read));
  }
  return report;
}

}  // namespace mayfly
