#include "jail/spec/escape.h"

namespace mayfly {

namespace {

// Length of the valid UTF-8 sequence at the start of `bytes`, 0 if there is none (RFC 3629 section 4).
std::size_t sequence_length(std::string_view bytes) {
  const auto byte = [&](std::size_t i) -> unsigned {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
  };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (bytes.empty()) return 0;
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;  // overlong
    if (first == 0xED && byte(1) > 0x9F) return 0;  // surrogates
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;  // overlong
    if (first == 0xF4 && byte(1) > 0x8F) return 0;  // above U+10FFFF
    return 4;
  }
  return 0;
}

unsigned code_point(std::string_view sequence) {
  const auto low = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]) & 0x3Fu; };
  switch (sequence.size()) {
    case 2:
      return (static_cast<unsigned char>(sequence[0]) & 0x1Fu) << 6 | low(1);
    case 3:
      return (static_cast<unsigned char>(sequence[0]) & 0x0Fu) << 12 | low(1) << 6 | low(2);
    case 4:
      return (static_cast<unsigned char>(sequence[0]) & 0x07u) << 18 | low(1) << 12 | low(2) << 6 | low(3);
    default:
      return static_cast<unsigned char>(sequence[0]);
  }
}

// Characters that change how others are shown: C1 controls, joiners, bidi controls, separators, tags, variation
// selectors, BOM, interlinear marks, private use. They are shown as bytes.
bool is_deceptive(unsigned c) {
  return (c >= 0x80 && c < 0xA0) || c == 0xAD || c == 0x34F || c == 0x61C || c == 0x180E ||
         (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) ||
         (c >= 0xE000 && c <= 0xF8FF) || (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF || (c >= 0xFFF0 && c <= 0xFFFB) ||
         c >= 0xE0000;
}

void append_hex(std::string& out, unsigned char byte) {
  static constexpr char kDigits[] = "0123456789abcdef";
  out += "\\x";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

}  // namespace

std::string escape(std::string_view bytes, std::size_t most_bytes) {
  const bool cut = bytes.size() > most_bytes;
  if (cut) bytes = bytes.substr(0, utf8_cut(bytes, most_bytes));
  std::string out;
  out.reserve(bytes.size() + 8);
  while (!bytes.empty()) {
    const auto first = static_cast<unsigned char>(bytes[0]);
    const std::size_t length = sequence_length(bytes);
    if (first == '\n')
      out += "\\n";
    else if (first == '\t')
      out += "\\t";
    else if (first == '\r')
      out += "\\r";
    else if (first == '\\')
      out += "\\\\";
    else if (length == 1 && first >= 0x20 && first != 0x7F)
      out += bytes[0];
    else if (length > 1 && !is_deceptive(code_point(bytes.substr(0, length))))
      out += bytes.substr(0, length);
    else
      for (std::size_t i = 0; i < (length == 0 ? 1 : length); ++i)
        append_hex(out, static_cast<unsigned char>(bytes[i]));
    bytes.remove_prefix(length == 0 ? 1 : length);
  }
  if (cut) out += "...";
  return out;
}

bool is_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t length = sequence_length(bytes);
    if (length == 0) return false;
    bytes.remove_prefix(length);
  }
  return true;
}

std::size_t utf8_cut(std::string_view bytes, std::size_t at_most) {
  if (bytes.size() <= at_most) return bytes.size();
  // Go back over at most three continuation bytes to the start of the character that the cut would split.
  for (std::size_t back = 0; back <= 3 && back <= at_most; ++back) {
    const std::size_t start = at_most - back;
    if ((static_cast<unsigned char>(bytes[start]) & 0xC0u) == 0x80u) continue;
    return start;
  }
  return at_most;  // not UTF-8 at all: cut where told
}

}  // namespace mayfly
