// Access: the ways into the SSH front end that an operator has opened. A login is good when one of them takes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mayfly {

struct SshAccess {
  bool open = true;             // everybody, anonymously: the none method, any password, any key with a good signature
  bool keys = false;            // the keys of `authorized_keys`
  bool invites = false;         // codes that `mayfly invite` printed
  std::string authorized_keys;  // path; read at every login, so that a change counts from the next one on
  friend bool operator==(const SshAccess&, const SshAccess&) = default;
};

// Names of the ways, in this order; the bit of each in SshAccess is set by its word.
inline constexpr std::string_view kAccessWords[] = {"open", "keys", "invites"};

// False: no such word.
inline bool allow(SshAccess& access, std::string_view word) {
  bool* const ways[] = {&access.open, &access.keys, &access.invites};
  for (std::size_t i = 0; i < 3; ++i)
    if (kAccessWords[i] == word) return *ways[i] = true;
  return false;
}

inline bool is_allowed(const SshAccess& access, std::size_t way) {
  const bool ways[] = {access.open, access.keys, access.invites};
  return ways[way];
}

}  // namespace mayfly
