#include "jail/cli/table.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "jail/spec/escape.h"

namespace mayfly {

namespace {

constexpr std::size_t kWidestCell = 60;

template <typename... Values>
std::string print(const char* form, Values... values) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), form, values...);
  return text.data();
}

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
  return print(is_round ? "%.0f%s" : "%.1f%s", value, units[unit]);
}

std::string short_duration(std::uint64_t ms) {
  using Number = unsigned long long;
  if (ms < 1000) return print("%llums", Number{ms});
  const std::uint64_t seconds = ms / 1000;
  if (seconds < 60) return print("%llus", Number{seconds});
  if (seconds < 3600) return print("%llum%02llus", Number{seconds / 60}, Number{seconds % 60});
  return print("%lluh%02llum", Number{seconds / 3600}, Number{seconds / 60 % 60});
}

}  // namespace mayfly
