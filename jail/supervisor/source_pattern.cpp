#include "jail/supervisor/source_pattern.h"

#include <arpa/inet.h>

#include <algorithm>

#include "jail/spec/escape.h"

namespace mayfly {

namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::array<std::uint8_t, 12> kMappedStart = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};  // RFC 4291 2.5.5.2
constexpr unsigned kMappedBits = 96;

auto not_a_pattern(std::string_view text, std::string why) {
  return failure("read from= pattern", 0, escape(text, 60), std::move(why));
}

char lower(char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; }

// The bit counted from the left.
bool bit_of(const Address& address, unsigned at) { return (address.bytes[at / 8] >> (7 - at % 8) & 1) != 0; }

bool is_mapped(const Address& address) {
  return address.bits == 128 && std::equal(kMappedStart.begin(), kMappedStart.end(), address.bytes.begin());
}

Network plain(const Network& network) {
  if (!is_mapped(network.address) || network.prefix < kMappedBits) return network;
  Network inner{Address{{}, 32}, network.prefix - kMappedBits};
  std::copy(network.address.bytes.begin() + kMappedStart.size(), network.address.bytes.end(),
            inner.address.bytes.begin());
  return inner;
}

std::string text_of(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(address.bits == 32 ? AF_INET : AF_INET6, address.bytes.data(), text.data(), text.size());
  return text.data();
}

bool contains(const Network& network, const Address& source) {
  if (network.address.bits != source.bits) return false;
  for (unsigned at = 0; at < network.prefix; ++at)
    if (bit_of(network.address, at) != bit_of(source, at)) return false;
  return true;
}

// Decimal without leading zeros, which some read as octal; nothing when it is above `most`.
std::optional<unsigned> read_prefix(std::string_view text, unsigned most) {
  if (text.empty() || text.size() > 3 || text.find_first_not_of(kDigits) != std::string_view::npos) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  unsigned value = 0;
  for (const char digit : text) value = value * 10 + static_cast<unsigned>(digit - '0');
  if (value > most) return std::nullopt;
  return value;
}

Expected<Network> read_network(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = read_address(text.substr(0, slash));
  if (!address) return not_a_pattern(text, "it has no address before the slash");
  const auto prefix = read_prefix(text.substr(slash + 1), address->bits);
  if (!prefix) return not_a_pattern(text, "after the slash 0.." + std::to_string(address->bits) + " is needed");
  for (unsigned at = *prefix; at < address->bits; ++at)
    if (bit_of(*address, at)) return not_a_pattern(text, "the address has bits beyond the mask");
  return plain({*address, *prefix});
}

// A part of an address is never written with a leading zero, so such a pattern would mean nobody; with "!" in front it
// would keep nobody out, against what its writer believes.
bool has_leading_zero(std::string_view text) {
  bool at_start = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char next = at + 1 < text.size() ? text[at + 1] : ':';
    if (at_start && text[at] == '0' && next != '.' && next != ':' && next != '*') return true;
    at_start = text[at] == '.' || text[at] == ':';
  }
  return false;
}

// What an element is made of, in one pass.
struct Shape {
  bool slash = false, wildcard = false, dot = false, letter_or_colon = false, foreign = false;
};

Shape shape_of(std::string_view text) {
  Shape shape;
  for (const char c : text) {
    const char letter = lower(c);
    if (c == '*' || c == '?')
      shape.wildcard = true;
    else if (c == ':' || (letter >= 'a' && letter <= 'f'))
      shape.letter_or_colon = true;
    else if (c == '.')
      shape.dot = true;
    else if (c == '/')
      shape.slash = true;
    else if (c < '0' || c > '9')
      shape.foreign = true;
  }
  return shape;
}

// A host name with wildcards ("!*.de") would mean nobody as well, and is told apart as far as characters can tell: dots
// go with decimal digits, letters with colons.
Expected<void> judge_wildcard(std::string_view text, const Shape& shape) {
  if (shape.foreign) return not_a_pattern(text, "it holds what cannot be part of an address; names are not looked up");
  if (shape.dot && shape.letter_or_colon)
    return not_a_pattern(text, "dots go with decimal digits alone; 192.0.2.* also means ::ffff:192.0.2.1");
  if (has_leading_zero(text)) return not_a_pattern(text, "addresses are compared without leading zeros");
  return {};
}

// Goes back to the last star only: what an earlier star could take, the last one can as well.
bool wildcard_matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0, in_pattern = 0;
  std::size_t star = std::string_view::npos, resume = 0;
  while (at < text.size()) {
    const char wanted = in_pattern < pattern.size() ? lower(pattern[in_pattern]) : '\0';
    if (wanted == '*') {
      star = in_pattern++;
      resume = at;
    } else if (wanted == '?' || (wanted != '\0' && wanted == text[at])) {
      ++in_pattern, ++at;
    } else if (star != std::string_view::npos) {
      in_pattern = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in_pattern) == std::string_view::npos;
}

}  // namespace

std::optional<Address> read_address(std::string_view text) {
  std::array<char, INET6_ADDRSTRLEN> terminated{};  // inet_pton takes a C string
  if (text.size() >= terminated.size() || text.find('\0') != std::string_view::npos) return std::nullopt;
  std::copy(text.begin(), text.end(), terminated.begin());
  Address address;
  if (::inet_pton(AF_INET, terminated.data(), address.bytes.data()) == 1) {
    address.bits = 32;
    return address;
  }
  if (::inet_pton(AF_INET6, terminated.data(), address.bytes.data()) != 1) return std::nullopt;
  address.bits = 128;
  return address;
}

Expected<SourcePattern> SourcePattern::make(std::string_view text) {
  const Sense sense = text.starts_with('!') ? Sense::NotFrom : Sense::From;
  const std::string_view whom = sense == Sense::NotFrom ? text.substr(1) : text;
  if (whom.empty()) return not_a_pattern(text, "an element of the list is empty");
  const Shape shape = shape_of(whom);
  if (shape.slash) return SourcePattern(sense, TRY(read_network(whom)));
  if (shape.wildcard) {
    TRY(judge_wildcard(whom, shape));
    return SourcePattern(sense, whom);
  }
  const auto address = read_address(whom);
  if (!address) return not_a_pattern(text, "it is no address; names are not looked up");
  return SourcePattern(sense, plain({*address, address->bits}));
}

bool SourcePattern::means(const Address& source, std::string_view source_text) const {
  if (const auto* network = std::get_if<Network>(&whom_)) return contains(*network, source);
  const auto* pattern = std::get_if<std::string_view>(&whom_);
  return pattern != nullptr && wildcard_matches(*pattern, source_text);
}

Expected<std::vector<std::string>> read_source_patterns(std::string_view list) {
  std::vector<std::string> patterns;
  patterns.reserve(static_cast<std::size_t>(std::count(list.begin(), list.end(), ',')) + 1);
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string_view element = list.substr(at, end - at);
    TRY(SourcePattern::make(element));
    patterns.emplace_back(element);
    at = end + 1;
  }
  return patterns;
}

bool comes_from(const std::vector<std::string>& patterns, std::string_view source) {
  const auto read = read_address(source);
  if (!read) return false;
  const Address address = plain({*read, read->bits}).address;
  const std::string text = text_of(address);
  bool meant = false;
  for (const std::string& element : patterns) {
    const auto pattern = SourcePattern::make(element);
    if (!pattern) return false;  // never of a line that was accepted
    if (!pattern->means(address, text)) continue;
    if (pattern->sense() == SourcePattern::Sense::NotFrom) return false;
    meant = true;
  }
  return meant;
}

}  // namespace mayfly
