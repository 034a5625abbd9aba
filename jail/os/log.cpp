#include "jail/os/log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "jail/spec/escape.h"

namespace mayfly {

namespace {

constexpr std::array<std::string_view, 4> kWords = {"debug", "info", "warning", "error"};

// The one process-wide setting of this file; written once, before anything is logged.
Severity& threshold() {
  static Severity least = Severity::Info;
  return least;
}

std::string time_stamp() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  ::gmtime_r(&now.tv_sec, &parts);
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ", parts.tm_year + 1900,
                parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, now.tv_nsec / 1'000'000);
  return text.data();
}

std::string field_value(const std::string& raw) {
  std::string value = escape(raw);
  if (value.find(' ') != std::string::npos || value.empty()) value = "\"" + value + "\"";
  return value;
}

}  // namespace

std::string_view name(Severity severity) { return kWords[static_cast<std::size_t>(severity)]; }

std::optional<Severity> severity_named(std::string_view word) {
  const auto* const found = std::find(kWords.begin(), kWords.end(), word);
  if (found == kWords.end()) return std::nullopt;
  return static_cast<Severity>(found - kWords.begin());
}

void set_log_threshold(Severity least) { threshold() = least; }

void log_line(Severity severity, std::string_view code,
              std::initializer_list<std::pair<std::string_view, std::string>> fields, std::string_view text) {
  if (severity < threshold()) return;
  std::string line = time_stamp() + " " + std::string(name(severity)) + " " + std::string(code);
  for (const auto& [key, value] : fields) line += " " + std::string(key) + "=" + field_value(value);
  if (!text.empty()) line += ": " + escape(text, 1000);
  line += "\n";
  // A log that cannot be written must not stop what it is about (hostile.md D07).
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

void log_failure(std::string_view code, const Failure& failure) {
  log_line(Severity::Error, code, {{"doing", failure.doing}, {"subject", failure.subject}},
           failure.error != 0 ? failure.why + (failure.why.empty() ? "" : ": ") + std::strerror(failure.error)
                              : failure.why);
}

}  // namespace mayfly
