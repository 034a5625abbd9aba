// The public half of an OpenSSH private key (PROTOCOL.key): base64 of
//   "openssh-key-v1\0"  string cipher  string kdf  string kdf-options  uint32 keys  string public-key  ...
// and its fingerprint, SHA-256 over the public key in base64 without padding (as ssh-keygen -l); then what others write
// about it, in known_hosts and in DNS.
#define OPENSSL_SUPPRESS_DEPRECATED  // SHA256_* is marked old in favour of EVP, which costs a start several hundred us
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "jail/cli/host_key.h"
#include "jail/spec/escape.h"
#include "jail/wire/result_json.h"

namespace mayfly {

namespace {

constexpr std::string_view kMagic("openssh-key-v1\0", 15);
constexpr std::string_view kKeyType = "ssh-ed25519";
constexpr std::string_view kSshfpKind = "4 2";  // Ed25519 (RFC 7479), SHA-256 (RFC 6594)
constexpr std::uint16_t kSshPort = 22;
constexpr std::size_t kMostHostBytes = 253;  // of a domain name (RFC 1035, 2.3.4) in its text form

std::optional<std::uint32_t> take_number(std::string_view& rest) {
  if (rest.size() < 4) return std::nullopt;
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(rest[static_cast<std::size_t>(i)]);
  rest.remove_prefix(4);
  return value;
}

std::optional<std::string_view> take_string(std::string_view& rest) {
  const std::optional<std::uint32_t> length = take_number(rest);
  if (!length || *length > rest.size()) return std::nullopt;
  const std::string_view text = rest.substr(0, *length);
  rest.remove_prefix(*length);
  return text;
}

std::string base64_body(const std::string& text) {
  std::string body;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line(text.data() + at, end - at);
    if (!line.starts_with("-----")) body += line;
    at = end + 1;
  }
  return body;
}

std::optional<std::string_view> public_blob(std::string_view rest) {
  if (!rest.starts_with(kMagic)) return std::nullopt;
  rest.remove_prefix(kMagic.size());
  for (int skipped = 0; skipped < 3; ++skipped)
    if (!take_string(rest)) return std::nullopt;
  const std::optional<std::uint32_t> keys = take_number(rest);
  if (!keys || *keys != 1) return std::nullopt;
  return take_string(rest);
}

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

Digest sha256_of(std::string_view blob) {
  Digest digest{};
  SHA256_CTX state;
  ::SHA256_Init(&state);
  ::SHA256_Update(&state, blob.data(), blob.size());
  ::SHA256_Final(digest.data(), &state);
  return digest;
}

std::string fingerprint(const Digest& digest) {
  std::string text = base64(std::string_view(reinterpret_cast<const char*>(digest.data()), digest.size()));
  while (!text.empty() && text.back() == '=') text.pop_back();
  return "SHA256:" + text;
}

std::string hex(const Digest& digest) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

// Of names and of addresses, IPv6 with a zone included. Commas, "*", "?", "!", "|", "@" and "#" are syntax of
// known_hosts.
bool may_stand_in_a_host(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._:%").find(c) != std::string_view::npos;
}

}  // namespace

Expected<PublicKey> public_key_of(const std::string& private_key) {
  const std::string raw = TRY(from_base64(base64_body(private_key)));
  const std::optional<std::string_view> blob = public_blob(raw);
  if (!blob) return failure("read host key", 0, {}, "it is not an OpenSSH private key with one key in it");
  std::string_view rest = *blob;
  const std::optional<std::string_view> type = take_string(rest);
  if (!type) return failure("read host key", 0, {}, "its public part is cut short");
  if (*type != kKeyType) return failure("use host key", 0, escape(*type, 80), "the service offers only ed25519");
  const Digest digest = sha256_of(*blob);
  return PublicKey{std::string(*type) + " " + base64(*blob), fingerprint(digest), hex(digest)};
}

Expected<HostPlace> make_host_place(const std::string& host, std::uint16_t port) {
  const bool sound = !host.empty() && host.size() <= kMostHostBytes && host.front() != '-' &&
                     std::all_of(host.begin(), host.end(), may_stand_in_a_host);
  if (!sound)
    return failure("read host", 0, "\"" + escape(host, 80) + "\"",
                   "write a name like jail.example.org, 192.0.2.1 or ::1");
  if (port == 0) return failure("read port", 0, "0", "it is a number from 1 to 65535");
  return HostPlace{host, port};
}

std::string known_hosts_line(const PublicKey& key, const HostPlace& place) {
  const std::string where = place.port == kSshPort ? place.host : "[" + place.host + "]:" + std::to_string(place.port);
  return where + " " + key.line;
}

std::string sshfp_line(const PublicKey& key, const HostPlace& place) {
  return place.host + " IN SSHFP " + std::string(kSshfpKind) + " " + key.digest;
}

}  // namespace mayfly
