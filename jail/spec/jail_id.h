// JailId: the one name of a jail, its job and its record: "j_" and 128 random bits in lower-case base32.
// An id is a capability only together with a connection; it is unguessable, but never a secret.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "jail/expected.h"

namespace mayfly {

class JailId {
 public:
  static constexpr std::size_t kTextLength = 28;  // "j_" and 26 characters of RFC 4648 base32, no padding

  JailId() = default;  // the nil id: never given to a jail
  explicit JailId(const std::array<std::uint8_t, 16>& bits) : bits_(bits) {}

  static Expected<JailId> parse(std::string_view text);  // exactly the form that text() writes
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const std::array<std::uint8_t, 16>& bits() const { return bits_; }

  // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm of clang-tidy 14 about every defaulted <=>
  friend auto operator<=>(const JailId&, const JailId&) = default;

 private:
  std::array<std::uint8_t, 16> bits_{};
};

}  // namespace mayfly
