#include "jail/cli/units_text.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "jail/spec/escape.h"

namespace mayfly {

namespace {

struct Unit {
  std::string_view word;
  double factor;
};

constexpr double kKibi = 1024.0;
constexpr Unit kSizes[] = {{"", 1},
                           {"b", 1},
                           {"k", kKibi},
                           {"m", kKibi* kKibi},
                           {"g", kKibi* kKibi* kKibi},
                           {"t", kKibi* kKibi* kKibi* kKibi}};
constexpr Unit kTimes[] = {{"", 1000},      {"ms", 1},        {"s", 1000},      {"m", 60'000},
                           {"min", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};

struct Split {
  double number;
  std::string unit;  // lower case
};

std::optional<Split> split(std::string_view text) {
  std::size_t digits = 0;
  while (digits < text.size() && (text[digits] == '.' || (text[digits] >= '0' && text[digits] <= '9'))) ++digits;
  double number = 0;
  const char* const end = text.data() + digits;
  const auto [stopped, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (digits == 0 || error != std::errc() || stopped != end) return std::nullopt;
  std::string unit;
  for (const char c : text.substr(digits)) unit += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return Split{number, unit};
}

template <std::size_t N>
std::optional<std::uint64_t> scaled(const Split& parts, const Unit (&units)[N], std::string_view unit) {
  for (const Unit& candidate : units) {
    if (candidate.word != unit) continue;
    const double value = std::round(parts.number * candidate.factor);
    if (!(value >= 0 && value < 9.0e18)) return std::nullopt;
    return static_cast<std::uint64_t>(value);
  }
  return std::nullopt;
}

auto refuse(const char* what, std::string_view text, const char* forms) {
  return failure(std::string("read ") + what, 0, "\"" + escape(text, 60) + "\"", forms);
}

}  // namespace

Expected<std::uint64_t> parse_size(std::string_view text) {
  if (auto parts = split(text)) {
    std::string_view unit = parts->unit;
    if (unit.size() == 3 && unit.ends_with("ib")) unit = unit.substr(0, 1);  // MiB
    if (unit.size() == 2 && unit.ends_with("b")) unit = unit.substr(0, 1);   // MB, which people write for MiB
    if (const auto bytes = scaled(*parts, kSizes, unit)) return *bytes;
  }
  return refuse("size", text, "write it like 256M, 1.5G or 65536");
}

Expected<std::uint64_t> parse_duration_ms(std::string_view text) {
  if (auto parts = split(text))
    if (const auto ms = scaled(*parts, kTimes, parts->unit)) return *ms;
  return refuse("duration", text, "write it like 10s, 1.5, 500ms, 2m or 1h");
}

Expected<double> parse_cpus(std::string_view text) {
  if (auto parts = split(text); parts && parts->unit.empty()) return parts->number;
  return refuse("number of processors", text, "write it like 1 or 0.5");
}

Expected<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t number = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && stopped == text.data() + text.size() && !text.empty()) return number;
  return refuse("number", text, "write it like 64");
}

}  // namespace mayfly
