// InviteBook: the invites of one service, and the file that they live in. A code is 100 random bits, handed out once
// and kept as a digest; it cannot be told again, by us or by who reads the file. Every change is on disk before it
// counts. Times are milliseconds since 1970, handed in. Owner: Logins.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jail/expected.h"
#include "jail/wire/monitor.h"

namespace mayfly {

struct Invite {
  std::string name;
  std::string profile;
  std::array<std::uint8_t, 32> digest{};  // of the code
  std::uint64_t created_unix_ms = 0, expires_unix_ms = 0;
  std::optional<std::uint32_t> uses_left;
};

inline constexpr std::size_t kMostInvites = 2000;  // their file then has fewer values than a JSON text of ours may have

// What a name may be: A-Z a-z 0-9 . _ -, a letter or digit first, 1..40 characters.
bool is_invite_name(std::string_view name);

// What of a typed code counts: case, dashes and blanks do not, and o i l are what they were taken for.
std::string plain_code(std::string_view typed);

class InviteBook {
 public:
  // Of a directory of the service's alone. No file yet: no invites. A file that cannot be read or understood is a
  // Failure: nobody is let in, and nothing is lost by writing over it.
  static Expected<InviteBook> load(std::string directory);

  // Their codes are in the rows, this once. Fails by the field's name, or because a live invite has the name.
  Expected<std::vector<InviteRow>> make(const NewInvites& order, std::uint64_t now_ms);
  [[nodiscard]] std::vector<InviteRow> list(std::uint64_t now_ms) const;  // that have not expired, used up or not
  // Here first and then on disk: a code that is taken back lets nobody in, whatever the disk says. Whether there was
  // one.
  Expected<bool> revoke(std::string_view name);

  // Takes one use of it. The same work for every code, whether it is right or not.
  Expected<std::optional<Invite>> use(std::string_view typed_code, std::string_view profile, std::uint64_t now_ms);

 private:
  explicit InviteBook(std::string directory) : directory_(std::move(directory)) {}
  Expected<void> keep(std::vector<Invite> changed);  // on disk, then here

  std::string directory_;
  std::vector<Invite> invites_;
};

}  // namespace mayfly
