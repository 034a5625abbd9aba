// AuthorizedKeys: an authorized_keys file as text (sshd(8), AUTHORIZED_KEYS FILE FORMAT), judged line by line. Pure,
// but for the host's time zone in expiry-time= without Z.
//
// Key types: ssh-ed25519, ecdsa-sha2-nistp256/384/521, ssh-rsa from 3072 bits on, and the sk- forms of the first two,
// of which libssh does not ask whether the token was touched. No certificates. Honoured options: restrict (nothing to
// take away: forwarding does not exist here), command="...", from="...", expiry-time="...". Any other option refuses
// its line, since it may be a restriction that we do not know; so does a from= pattern that is neither an address, a
// network (CIDR) nor a wildcard over addresses: no name is ever looked up. A refused line is told with its number and
// the reason, and never stands for a key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly {

struct AuthorizedKey {
  std::string blob;                     // the key as it travels, RFC 4253 6.6; decoded
  std::string comment;                  // of the line; to be shown escaped, means nothing
  std::optional<std::string> command;   // instead of whatever the peer asks for
  std::vector<std::string> from;        // patterns; empty: from anywhere. "!" in front: not from there
  std::optional<std::int64_t> expires;  // seconds since 1970; not from then on
  int line = 0;
};

struct RefusedLine {
  int line = 0;
  std::string why;  // for the log
};

enum class KeyVerdict : std::uint8_t { Unknown, Expired, FromElsewhere, Good };

struct KeyFound {
  KeyVerdict verdict = KeyVerdict::Unknown;
  const AuthorizedKey* key = nullptr;  // of the AuthorizedKeys; null when Unknown
};

// Beyond either, the rest is one refused line, with the line that the bound on bytes cuts.
inline constexpr std::size_t kMostKeyFileBytes = 1 << 20;
inline constexpr std::size_t kMostKeyLines = 4096;

class AuthorizedKeys {
 public:
  static AuthorizedKeys parse(std::string_view text);

  // The first line with this key that is good, else why its last line was not. `source`: "192.0.2.1" or "2001:db8::1";
  // any other text (a port, a zone behind %) is FromElsewhere for a line with from=.
  [[nodiscard]] KeyFound find(std::string_view blob, std::string_view source, std::int64_t now_unix_s) const;
  [[nodiscard]] const std::vector<AuthorizedKey>& keys() const { return keys_; }
  [[nodiscard]] const std::vector<RefusedLine>& refused() const { return refused_; }

 private:
  std::vector<AuthorizedKey> keys_;
  std::vector<RefusedLine> refused_;
};

std::string key_fingerprint(std::string_view blob);  // "SHA256:..." as ssh-keygen -l prints it

}  // namespace mayfly
