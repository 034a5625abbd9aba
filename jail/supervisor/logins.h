// Logins: who may come in over SSH, as what, and for how long. The session process brings what its peer showed; what is
// admitted is decided here, and every jail of that connection is then asked for in this name. Owner: Supervisor.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <memory>
#include <string>

#include "jail/spec/access.h"
#include "jail/spec/profile.h"
#include "jail/supervisor/authorized_keys.h"
#include "jail/supervisor/invites.h"
#include "jail/wire/lease.h"

namespace mayfly {

// For whom a lease connection of the SSH front end speaks, from its login on.
struct Identity {
  std::string profile;
  std::string principal;
  std::optional<std::string> command{};            // a key's: runs instead of anything else
  std::optional<std::uint64_t> expires_unix_ms{};  // no new jail from then on
  std::string key{}, host{};                       // of a login by key, which is looked at again for every jail
  bool is_over = false;                            // revoked
};

class Logins {
 public:
  using Clock = std::function<std::uint64_t()>;  // milliseconds since 1970

  // `directory`: of the invites; "" where there is none. An invites file that cannot be read closes that way alone, and
  // says so in the log: a service without invites is better than none.
  Logins(SshAccess access, const Catalogue& catalogue, std::string directory, Clock now);

  // Nothing: refused, whatever the reason; the log knows it. For a KeyOffer an identity means "this key would do".
  std::optional<Identity> judge(const LogIn& login);
  [[nodiscard]] bool is_over(const Identity& identity);

  // What operators ask. Fails where invites are no way in.
  Expected<std::vector<InviteRow>> make_invites(const NewInvites& order);
  Expected<std::vector<InviteRow>> invites() const;
  // Whether there was one. A Failure: it is gone from here, but the file still has it.
  Expected<bool> revoke(const std::string& name);

 private:
  std::optional<Identity> by_code(const LogIn& login);
  std::optional<Identity> by_key(const LogIn& login);
  Expected<void> judge_invites() const;
  const AuthorizedKeys* read_keys();
  const AuthorizedKeys* no_keys(const Failure& why);

  SshAccess access_;
  const Catalogue& catalogue_;
  Clock now_;
  std::optional<InviteBook> book_;
  std::string no_book_;  // why there is none
  AuthorizedKeys keys_;  // of the file as it was when it was read
  std::optional<struct stat> keys_file_;
  bool keys_are_good_ = false;
  std::string no_keys_told_;
};

// Of an invite: "invite:ana". Of a key: "key:" and its fingerprint.
std::string principal_of_invite(const std::string& name);

}  // namespace mayfly
