#include "tests/hostile/attack.h"

#include <algorithm>
#include <cstdlib>

namespace mayfly::test {

Lines::Lines(const std::string& text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (!line.empty() && line.back() == '\r') line.pop_back();  // a terminal's newline
    if (const std::size_t mark = line.find('='); mark != std::string::npos) {
      lines_.emplace_back(line.substr(0, mark), line.substr(mark + 1));
    }
    at = end + 1;
  }
}

std::string Lines::of(const std::string& name) const {
  const std::vector<std::string> values = all(name);
  return values.empty() ? "" : values.back();
}

long Lines::number(const std::string& name) const {
  const std::string value = of(name);
  return value.empty() ? -1 : std::strtol(value.c_str(), nullptr, 10);
}

std::vector<std::string> Lines::all(const std::string& name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : lines_) {
    if (key == name) values.push_back(value);
  }
  return values;
}

std::string Lines::named_with(const std::string& value) const {
  std::vector<std::string> names;
  for (const auto& [key, held] : lines_) {
    if (held == value) names.push_back(key);
  }
  std::sort(names.begin(), names.end());
  std::string joined;
  for (const std::string& name : names) joined += (joined.empty() ? "" : " ") + name;
  return joined;
}

bool Outcome::reached(LimitReached limit) const {
  const auto& all = result.limits_reached;
  return std::find(all.begin(), all.end(), limit) != all.end();
}

std::string Outcome::story() const {
  if (!trouble.empty()) return "trouble: " + trouble;
  std::string text = "ending " + std::string(name(result.ending)) + " (" + result.text + ")";
  if (result.exit_code) text += " code " + std::to_string(*result.exit_code);
  if (result.signal_number) text += " signal " + std::to_string(*result.signal_number);
  if (result.failed_step != Step::None) text += " step " + std::string(name(result.failed_step));
  for (const LimitReached limit : result.limits_reached) text += " reached " + std::string(name(limit));
  return text + "\n--- out\n" + out.substr(0, 3000) + "\n--- err\n" + err.substr(0, 600);
}

}  // namespace mayfly::test
