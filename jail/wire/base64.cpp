// RFC 4648 base64, strict: padding is required, stray bits and white space are refused. Our own few lines, because the
// cryptographic library that has it would double the time in which `mayfly run` starts (promise P87), and forgives.
#include <cstdint>

#include "jail/wire/result_json.h"

namespace mayfly {

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::uint32_t byte_at(std::string_view bytes, std::size_t at) {
  return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0u;
}

// 0..63, or nothing.
std::optional<std::uint32_t> value_of(char c) {
  const auto at = kAlphabet.find(c);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<std::uint32_t>(at);
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::uint32_t group = byte_at(bytes, at) << 16 | byte_at(bytes, at + 1) << 8 | byte_at(bytes, at + 2);
    const std::size_t left = bytes.size() - at;
    text += kAlphabet[group >> 18];
    text += kAlphabet[group >> 12 & 63];
    text += left > 1 ? kAlphabet[group >> 6 & 63] : '=';
    text += left > 2 ? kAlphabet[group & 63] : '=';
  }
  return text;
}

Expected<std::string> from_base64(std::string_view text) {
  const auto wrong = [] { return failure("read base64", 0, "", "RFC 4648 base64 with padding is needed"); };
  if (text.size() % 4 != 0) return wrong();
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  unsigned held = 0;
  for (const char c : text.substr(0, text.size() - padding)) {
    const auto value = value_of(c);
    if (!value) return wrong();
    group = group << 6 | *value;
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes += static_cast<char>(group >> held & 255);
      group &= (1u << held) - 1;
    }
  }
  if (group != 0) return wrong();  // bits that no encoder writes
  return bytes;
}

}  // namespace mayfly
