#include "jail/spec/jail_id.h"

namespace mayfly {

namespace {
constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz234567";  // RFC 4648 section 6, lower case
}  // namespace

std::string JailId::text() const {
  std::string out = "j_";
  std::uint32_t buffer = 0;
  unsigned held = 0;
  for (const std::uint8_t byte : bits_) {
    buffer = buffer << 8 | byte;
    held += 8;
    while (held >= 5) {
      held -= 5;
      out += kAlphabet[buffer >> held & 31u];
    }
    buffer &= (1u << held) - 1u;
  }
  out += kAlphabet[buffer << (5 - held) & 31u];  // 128 = 25 * 5 + 3
  return out;
}

Expected<JailId> JailId::parse(std::string_view text) {
  if (text.size() != kTextLength || text.substr(0, 2) != "j_")
    return failure("read jail id", 0, std::string(text.substr(0, 40)), "a jail id is j_ and 26 characters");
  std::array<std::uint8_t, 16> bits{};
  std::uint32_t buffer = 0;
  unsigned held = 0;
  std::size_t filled = 0;
  for (const char c : text.substr(2)) {
    const auto value = kAlphabet.find(c);
    if (value == std::string_view::npos)
      return failure("read jail id", 0, std::string(text), "only a-z and 2-7 follow j_");
    buffer = buffer << 5 | static_cast<std::uint32_t>(value);
    held += 5;
    if (held >= 8 && filled < bits.size()) {
      held -= 8;
      bits[filled++] = static_cast<std::uint8_t>(buffer >> held & 255u);
    }
    buffer &= (1u << held) - 1u;
  }
  if (buffer != 0) return failure("read jail id", 0, std::string(text), "the last character carries stray bits");
  return JailId(bits);
}

}  // namespace mayfly
