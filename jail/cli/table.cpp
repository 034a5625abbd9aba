#include "jail/cli/table.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "jail/spec/escape.h"

namespace mayfly {

namespace {

constexpr std::size_t kWidestCell = 60;

std::string two_digits(std::uint64_t number) { return (number < 10 ? "0" : "") + std::to_string(number); }

}  // namespace

std::string format_table(const TableRow& headings, const std::vector<TableRow>& rows) {
  std::vector<TableRow> lines = {headings};
  for (const TableRow& row : rows) {
    TableRow& line = lines.emplace_back();
    for (const std::string& cell : row) line.push_back(escape(cell, kWidestCell));
  }
  std::vector<std::size_t> widths(headings.size());
  for (const TableRow& line : lines)
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  std::string text;
  for (const TableRow& line : lines) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      text += line[i];
      if (i + 1 < widths.size()) text.append(widths[i] + 2 - line[i].size(), ' ');
    }
    text += '\n';
  }
  return text;
}

std::string short_size(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units = {"", "K", "M", "G", "T"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  const bool is_round = value >= 10 || value == static_cast<double>(static_cast<std::uint64_t>(value));
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f%s", is_round ? 0 : 1, value, units[unit]);
  return text.data();
}

std::string short_duration(std::uint64_t ms) {
  const std::uint64_t seconds = ms / 1000;
  if (seconds == 0) return std::to_string(ms) + "ms";
  if (seconds < 60) return std::to_string(seconds) + "s";
  if (seconds < 3600) return std::to_string(seconds / 60) + "m" + two_digits(seconds % 60) + "s";
  return std::to_string(seconds / 3600) + "h" + two_digits(seconds / 60 % 60) + "m";
}

}  // namespace mayfly
