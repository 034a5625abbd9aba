#include "jail/wire/json_text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "jail/spec/escape.h"
#include "jail/wire/frame.h"

namespace mayfly {

namespace {

// RFC 8259 section 7: quotation mark, reverse solidus and the control characters; the rest stands for itself.
void append_escaped(std::string& text, char c) {
  static constexpr std::string_view kLetters = "\b\f\n\r\t\"\\", kEscapes = "bfnrt\"\\";
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (const std::size_t at = kLetters.find(c); at != std::string_view::npos)
    (text += '\\') += kEscapes[at];
  else if (byte < 0x20)
    ((text += "\\u00") += kDigits[byte >> 4]) += kDigits[byte & 15];
  else
    text += c;
}

}  // namespace

void append_json_string(std::string& text, std::string_view value) {
  if (!is_utf8(value)) {  // the library knows how to replace what is wrong
    text += Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  text.reserve(text.size() + value.size() + 2);
  text += '"';
  for (std::size_t at = 0; at < value.size();) {
    std::size_t end = at;
    while (end < value.size() && static_cast<unsigned char>(value[end]) >= 0x20 && value[end] != '"' &&
           value[end] != '\\')
      ++end;
    text.append(value.substr(at, end - at));
    if (end < value.size()) append_escaped(text, value[end++]);
    at = end;
  }
  text += '"';
}

void JsonText::separate() {
  if (text_.back() != '{' && text_.back() != '[') text_ += ',';
}

void JsonText::begin(std::string_view key) {
  separate();
  ((text_ += '"') += key) += "\":";
}

JsonText& JsonText::put_plain(std::string_view key, std::string_view value) {
  begin(key);
  text_ += value;
  return *this;
}

JsonText& JsonText::put(std::string_view key, std::string_view value) {
  begin(key);
  append_json_string(text_, value);
  return *this;
}

JsonText& JsonText::put(std::string_view key, std::nullptr_t) { return put_plain(key, "null"); }

JsonText& JsonText::put(std::string_view key, double value) {
  if (!std::isfinite(value)) return put(key, nullptr);
  std::array<char, 400> digits;  // the largest double has 309 before the point, the smallest 324 behind it
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  put_plain(key, text);
  if (text.find('.') == std::string_view::npos) text_ += ".0";
  return *this;
}

JsonText& JsonText::open(std::string_view key) { return put_plain(key, "{"); }

JsonText& JsonText::open_item() {
  separate();
  text_ += '{';
  return *this;
}

JsonText& JsonText::close() {
  text_ += '}';
  return *this;
}

JsonText& JsonText::open_list(std::string_view key) { return put_plain(key, "["); }

JsonText& JsonText::item(std::string_view value) {
  separate();
  append_json_string(text_, value);
  return *this;
}

JsonText& JsonText::close_list() {
  text_ += ']';
  return *this;
}

std::string JsonText::take() {
  text_ += '}';
  return std::move(text_);
}

}  // namespace mayfly
