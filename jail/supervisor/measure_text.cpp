#include "jail/supervisor/measure_text.h"

#include <charconv>

namespace mayfly {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

template <typename Number>
bool take_number(std::string_view& text, Number& into, int base = 10) {
  skip_blanks(text);
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), into, base);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return text.empty() || is_blank(text.front());
}

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// The value after "Name:"; the lines are looked for in the order of the file, so one walk is enough.
bool find_value(std::string_view& text, std::string_view name, std::string_view& value) {
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') continue;
    value = line.substr(name.size() + 1);
    return true;
  }
  return false;
}

template <typename Number>
bool find_number(std::string_view& text, std::string_view name, Number& into, int base = 10) {
  std::string_view value;
  return find_value(text, name, value) && take_number(value, into, base);
}

bool find_ids(std::string_view& text, std::string_view name, std::array<std::uint32_t, 4>& into) {
  std::string_view value;
  if (!find_value(text, name, value)) return false;
  for (std::uint32_t& id : into)
    if (!take_number(value, id)) return false;
  return true;
}

bool count_groups(std::string_view& text, std::uint32_t& into) {
  std::string_view value;
  if (!find_value(text, "Groups", value)) return false;
  std::uint32_t id = 0;
  for (skip_blanks(value); !value.empty(); skip_blanks(value)) {
    if (!take_number(value, id)) return false;
    ++into;
  }
  return true;
}

bool take_limit(std::string_view& text, std::uint64_t& into) {
  skip_blanks(text);
  constexpr std::string_view kUnlimited = "unlimited";
  if (!text.starts_with(kUnlimited)) return take_number(text, into);
  text.remove_prefix(kUnlimited.size());
  into = UINT64_MAX;
  return true;
}

}  // namespace

std::optional<StatusText> parse_status(std::string_view text) {
  StatusText status;
  const bool whole =
      find_ids(text, "Uid", status.uid) && find_ids(text, "Gid", status.gid) && count_groups(text, status.groups) &&
      find_number(text, "CapInh", status.cap_inheritable, 16) &&
      find_number(text, "CapPrm", status.cap_permitted, 16) && find_number(text, "CapEff", status.cap_effective, 16) &&
      find_number(text, "CapBnd", status.cap_bounding, 16) && find_number(text, "CapAmb", status.cap_ambient, 16) &&
      find_number(text, "NoNewPrivs", status.no_new_privs) && find_number(text, "Seccomp", status.seccomp);
  if (!whole) return std::nullopt;
  return status;
}

std::optional<IdMap> parse_id_map(std::string_view text) {
  IdMap map;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (map.count == map.rows.size()) return std::nullopt;
    IdRow& row = map.rows[map.count++];
    if (!take_number(line, row.inside) || !take_number(line, row.outside) || !take_number(line, row.count))
      return std::nullopt;
  }
  return map;
}

std::optional<LimitRow> find_limit(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    if (line.empty() || !is_blank(line.front())) continue;
    LimitRow row;
    if (!take_limit(line, row.soft) || !take_limit(line, row.hard)) return std::nullopt;
    return row;
  }
  return std::nullopt;
}

bool has_only_loopback(std::string_view net_dev) {
  take_line(net_dev);  // two lines of headings
  take_line(net_dev);
  std::size_t interfaces = 0;
  while (!net_dev.empty()) {
    std::string_view line = take_line(net_dev);
    skip_blanks(line);
    if (!line.starts_with("lo:")) return false;
    ++interfaces;
  }
  return interfaces == 1;
}

std::optional<std::uint64_t> option_number(std::string_view options, std::string_view name) {
  while (!options.empty()) {
    const std::size_t end = options.find(',');
    std::string_view option = options.substr(0, end);
    options.remove_prefix(end == std::string_view::npos ? options.size() : end + 1);
    if (!option.starts_with(name) || option.size() <= name.size() || option[name.size()] != '=') continue;
    option.remove_prefix(name.size() + 1);
    std::uint64_t factor = 1;
    if (option.ends_with('k')) {
      option.remove_suffix(1);
      factor = 1024;
    }
    std::uint64_t number = 0;
    if (!take_number(option, number) || !option.empty()) return std::nullopt;
    return number * factor;
  }
  return std::nullopt;
}

}  // namespace mayfly
