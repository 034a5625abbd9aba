#include "jail/supervisor/measure_mounts.h"

namespace mayfly {
namespace {

std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

}  // namespace

bool next_mount(std::string_view& text, MountLine& line) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return false;
  std::string_view rest = text.substr(0, end);
  take_until(rest, ' ');  // mount id
  take_until(rest, ' ');  // parent id
  take_until(rest, ' ');  // major:minor
  line.root = take_until(rest, ' ');
  line.mount_point = take_until(rest, ' ');
  line.options = take_until(rest, ' ');
  // Optional fields ("shared:7") until a single hyphen.
  for (std::string_view field = take_until(rest, ' '); field != "-"; field = take_until(rest, ' '))
    if (rest.empty()) return false;
  line.type = take_until(rest, ' ');
  line.source = take_until(rest, ' ');
  line.super_options = rest;
  if (line.mount_point.empty() || line.type.empty()) return false;
  text.remove_prefix(end + 1);
  return true;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty())
    if (take_until(list, ',') == word) return true;
  return false;
}

std::string unescape_mount(std::string_view escaped) {
  std::string plain;
  for (std::size_t i = 0; i < escaped.size(); ++i) {
    const bool octal = escaped[i] == '\\' && i + 3 < escaped.size() && is_octal(escaped[i + 1]) &&
                       is_octal(escaped[i + 2]) && is_octal(escaped[i + 3]);
    if (!octal) {
      plain += escaped[i];
      continue;
    }
    plain += static_cast<char>((escaped[i + 1] - '0') * 64 + (escaped[i + 2] - '0') * 8 + (escaped[i + 3] - '0'));
    i += 3;
  }
  return plain;
}

}  // namespace mayfly
