// The three data types of SSH packets that the played peer needs (RFC 4251, 5). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mayfly::fuzz {

inline std::string word(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

inline std::string text(std::string_view bytes) {
  return word(static_cast<std::uint32_t>(bytes.size())) + std::string(bytes);
}

// Reads from the front; of what is not there it makes zeros and remembers that it was not.
class Bytes {
 public:
  explicit Bytes(std::string_view rest) : rest_(rest) {}

  std::string_view take(std::size_t count) {
    whole_ = whole_ && count <= rest_.size();
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::uint8_t byte() {
    const std::string_view taken = take(1);
    return taken.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(taken[0]);
  }
  std::uint32_t word() {
    std::uint32_t value = 0;
    for (const char c : take(4)) value = value << 8 | static_cast<std::uint8_t>(c);
    return whole_ ? value : 0;
  }
  std::string_view text() { return take(word()); }

  [[nodiscard]] bool whole() const { return whole_; }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool whole_ = true;
};

}  // namespace mayfly::fuzz
