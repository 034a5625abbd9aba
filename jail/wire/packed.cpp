#include "jail/wire/packed.h"

#include <array>
#include <charconv>

namespace mayfly {

PackedWriter& PackedWriter::put(std::uint64_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return put_word({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

PackedWriter& PackedWriter::put(std::optional<std::uint64_t> number) { return number ? put(*number) : put_word("-"); }

PackedWriter& PackedWriter::put_word(std::string_view word) {
  if (!text_.empty()) text_ += ' ';
  text_ += word;
  return *this;
}

Expected<std::string_view> PackedReader::word() {
  if (begun_) {
    if (left_.empty()) return failure("read field", 0, std::string(where_), "too few entries");
    left_.remove_prefix(1);  // the space that ended the last one
  }
  begun_ = true;
  const std::string_view word = left_.substr(0, left_.find(' '));
  if (word.empty()) return failure("read field", 0, std::string(where_), "too few entries, or an empty one");
  left_.remove_prefix(word.size());
  return word;
}

Expected<std::uint64_t> PackedReader::number(std::uint64_t most) {
  const std::string_view digits = TRY(word());
  std::uint64_t number = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || stop != digits.data() + digits.size() || number > most)
    return failure("read field", 0, std::string(where_), "a whole number in 0.." + std::to_string(most) + " is needed");
  return number;
}

Expected<std::optional<std::uint64_t>> PackedReader::optional_number(std::uint64_t most) {
  const bool has_next = begun_ ? left_.starts_with(" -") : left_.starts_with("-");
  if (!has_next) return std::optional<std::uint64_t>(TRY(number(most)));
  if (TRY(word()) != "-") return failure("read field", 0, std::string(where_), "a whole number or - is needed");
  return std::optional<std::uint64_t>();
}

Expected<void> PackedReader::finish() const {
  if (!left_.empty()) return failure("read field", 0, std::string(where_), "too many entries");
  return {};
}

}  // namespace mayfly
