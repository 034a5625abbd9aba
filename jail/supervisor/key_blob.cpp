#include "jail/supervisor/key_blob.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>

#include "jail/spec/escape.h"
#include "jail/supervisor/authorized_keys.h"
#include "jail/supervisor/sha256.h"
#include "jail/wire/result_json.h"

namespace mayfly {

namespace {

constexpr std::size_t kLeastRsaBits = 3072;   // the design, section 7; held here, whatever libssh is told
constexpr std::size_t kMostRsaBits = 16'384;  // OpenSSH's bound; verifying costs the square of it
constexpr std::size_t kEdwardsBytes = 32;     // RFC 8709 section 4

enum class Family : std::uint8_t { Edwards, Curve, Rsa };
enum class Holder : std::uint8_t { File, SecurityKey };

struct KeyType {
  std::string_view name;
  Family family;
  Holder holder;
  std::string_view curve;
  std::size_t point_bytes;  // uncompressed: 04, x, y
};

// libssh 0.10 verifies the two sk- types (it hashes the application and the request, then asks the plain algorithm),
// but does not ask whether the token was touched.
constexpr std::array kTypes = {
    KeyType{"ssh-ed25519", Family::Edwards, Holder::File, {}, 0},
    KeyType{"ecdsa-sha2-nistp256", Family::Curve, Holder::File, "nistp256", 65},
    KeyType{"ecdsa-sha2-nistp384", Family::Curve, Holder::File, "nistp384", 97},
    KeyType{"ecdsa-sha2-nistp521", Family::Curve, Holder::File, "nistp521", 133},
    KeyType{"ssh-rsa", Family::Rsa, Holder::File, {}, 0},
    KeyType{"sk-ssh-ed25519@openssh.com", Family::Edwards, Holder::SecurityKey, {}, 0},
    KeyType{"sk-ecdsa-sha2-nistp256@openssh.com", Family::Curve, Holder::SecurityKey, "nistp256", 65},
};

auto not_well_formed(std::string_view type, std::string why) {
  return failure("read key", 0, std::string(type), std::move(why));
}

// A string of RFC 4251 section 5: four bytes of length, then as many bytes.
std::optional<std::string_view> take_string(std::string_view& rest) {
  if (rest.size() < 4) return std::nullopt;
  std::uint32_t length = 0;
  for (const char byte : rest.substr(0, 4)) length = length << 8 | static_cast<unsigned char>(byte);
  if (length > rest.size() - 4) return std::nullopt;
  const std::string_view text = rest.substr(4, length);
  rest.remove_prefix(4 + std::size_t{length});
  return text;
}

// The digits of a positive mpint of RFC 4251 section 5, without the zero byte that keeps the sign clear. That byte
// where it is not needed, zero itself and negative numbers are refused: the same key would have more than one blob.
std::optional<std::string_view> take_positive(std::string_view& rest) {
  auto digits = take_string(rest);
  if (!digits || digits->empty()) return std::nullopt;
  const auto sign_bit = [](std::string_view text) { return (static_cast<unsigned char>(text.front()) & 0x80) != 0; };
  if (sign_bit(*digits)) return std::nullopt;
  if (digits->front() != '\0') return digits;
  digits->remove_prefix(1);
  if (digits->empty() || !sign_bit(*digits)) return std::nullopt;
  return digits;
}

std::size_t bits_of(std::string_view digits) {
  return (digits.size() - 1) * 8 + static_cast<std::size_t>(std::bit_width(static_cast<unsigned char>(digits.front())));
}

bool is_odd(std::string_view digits) { return (static_cast<unsigned char>(digits.back()) & 1) != 0; }

Expected<void> judge_rsa(const KeyType& type, std::string_view& rest) {
  const auto exponent = take_positive(rest);
  if (!exponent) return not_well_formed(type.name, "its exponent is no positive mpint");
  // With the exponent 1 every text is its own signature, and anybody could log in.
  if (!is_odd(*exponent) || bits_of(*exponent) < 2) return not_well_formed(type.name, "its exponent is even or 1");
  const auto modulus = take_positive(rest);
  if (!modulus) return not_well_formed(type.name, "its modulus is no positive mpint");
  const std::size_t bits = bits_of(*modulus);
  if (bits < kLeastRsaBits || bits > kMostRsaBits)
    return not_well_formed(type.name, "it has " + std::to_string(bits) + " bits; allowed are " +
                                          std::to_string(kLeastRsaBits) + ".." + std::to_string(kMostRsaBits));
  return {};
}

Expected<void> judge_curve(const KeyType& type, std::string_view& rest) {
  if (take_string(rest) != type.curve) return not_well_formed(type.name, "its curve is another one");
  const auto point = take_string(rest);
  if (!point || point->size() != type.point_bytes || point->front() != '\x04')
    return not_well_formed(type.name, "its point is not an uncompressed one of that curve");
  return {};
}

Expected<void> judge_edwards(const KeyType& type, std::string_view& rest) {
  const auto key = take_string(rest);
  if (!key || key->size() != kEdwardsBytes) return not_well_formed(type.name, "it does not have 32 bytes");
  return {};
}

Expected<void> judge_numbers(const KeyType& type, std::string_view& rest) {
  switch (type.family) {
    case Family::Edwards:
      return judge_edwards(type, rest);
    case Family::Curve:
      return judge_curve(type, rest);
    case Family::Rsa:
      break;
  }
  return judge_rsa(type, rest);
}

Expected<void> judge(const KeyType& type, std::string_view blob) {
  std::string_view rest = blob;
  const auto inside = take_string(rest);
  if (!inside) return not_well_formed(type.name, "it is cut short within its own type");
  if (*inside != type.name) return not_well_formed(type.name, "the key itself is of type " + escape(*inside, 60));
  TRY(judge_numbers(type, rest));
  if (type.holder == Holder::SecurityKey && !take_string(rest))
    return not_well_formed(type.name, "its application is cut short");
  if (!rest.empty()) return not_well_formed(type.name, "bytes follow its end");
  return {};
}

}  // namespace

bool is_key_type(std::string_view word) {
  return word.starts_with("ssh-") || word.starts_with("ecdsa-") || word.starts_with("sk-");
}

Expected<std::string> read_key_blob(std::string_view type, std::string_view base64_text) {
  const auto* const row = std::find_if(kTypes.begin(), kTypes.end(), [&](const KeyType& t) { return t.name == type; });
  if (row == kTypes.end()) {
    const bool certificate = type.ends_with("-cert-v01@openssh.com");
    return failure("accept key type", 0, escape(type, 60),
                   certificate ? "certificates are not known here" : "it is none of those accepted");
  }
  std::string blob = TRY(from_base64(base64_text));
  TRY(judge(*row, blob));
  return blob;
}

std::string key_fingerprint(std::string_view blob) {
  const std::array<std::uint8_t, 32> digest = sha256(blob);
  std::string text = base64(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
  while (text.ends_with('=')) text.pop_back();
  return "SHA256:" + text;
}

}  // namespace mayfly
