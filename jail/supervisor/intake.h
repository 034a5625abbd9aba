// From an Open message to a Spec and the descriptors of its run. What is malformed (descriptors that do not match the
// request, a payload that is not sealed) is a Failure and cuts the peer; what is merely not allowed is a Refusal.
#pragma once

#include <variant>

#include "jail/spec/policy.h"
#include "jail/supervisor/jail.h"
#include "jail/supervisor/logins.h"
#include "jail/supervisor/refusal.h"
#include "jail/wire/keeper.h"

namespace mayfly {

struct Accepted {
  Spec spec;
  PeerFds peer;
};
using Intake = std::variant<Accepted, Refusal>;

// `identity`: for whom an SSH connection speaks; null for other front ends. Its principal, its profile and its command
// are what counts, whatever the message says; a message that says something else is malformed.
Expected<Intake> take_in(Open open, std::vector<Fd> fds, Role role, const Identity* identity, const Policy& policy);

Expected<JailId> make_jail_id();  // getrandom(2)

}  // namespace mayfly
