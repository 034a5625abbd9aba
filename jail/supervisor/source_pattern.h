// SourcePattern: one element of the list in from="...": whom it means. Pure; no name is ever looked up.
//
// An address or a network (CIDR) is compared as a number. A pattern with * or ? is compared with the text of the source
// as RFC 5952 writes it ("2001:db8::1"), so for IPv6 a network says more clearly what is meant. "!" in front turns it
// round. An IPv4 address within IPv6 (::ffff:192.0.2.1) counts as the IPv4 address, in patterns and in sources.
// Source: sshd(8) from=, ssh_config(5) PATTERNS.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "jail/expected.h"

namespace mayfly {

struct Address {
  std::array<std::uint8_t, 16> bytes{};  // network order; IPv4 uses the first four
  unsigned bits = 0;                     // 32 or 128
  friend bool operator==(const Address&, const Address&) = default;
};

struct Network {
  Address address;
  unsigned prefix = 0;  // how many bits of it count
};

// Text as inet_pton(3) takes it; nothing for all else.
std::optional<Address> read_address(std::string_view text);

// Does not own its text: it lives as long as one comparison.
class SourcePattern {
 public:
  enum class Sense : std::uint8_t { From, NotFrom };

  // Fails with the reason when it could never be part of an address, or has bits beyond its mask.
  static Expected<SourcePattern> make(std::string_view text);

  [[nodiscard]] bool means(const Address& source, std::string_view source_text) const;
  [[nodiscard]] Sense sense() const { return sense_; }

 private:
  using Whom = std::variant<Network, std::string_view>;  // the text has wildcards
  SourcePattern(Sense sense, Whom whom) : sense_(sense), whom_(whom) {}

  Sense sense_;
  Whom whom_;
};

// The elements of a from= list; fails with the first that is not a pattern.
Expected<std::vector<std::string>> read_source_patterns(std::string_view list);

// Whether one pattern means the source and no negated one does. A source that is no address comes from elsewhere, and
// so does everybody when all patterns are negated, as in OpenSSH.
bool comes_from(const std::vector<std::string>& patterns, std::string_view source);

}  // namespace mayfly
