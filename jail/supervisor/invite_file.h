// The file `invites.json` of a service's state directory, mode 0600:
//   {"version": 1, "invites": [{"name": "ana", "profile": "python", "sha256": "<64 hex digits>", "createdUnixMs": n,
//     "expiresUnixMs": n, "usesLeft": n?}]}
// Written beside and renamed over (rename(2) is atomic, fsync(2) on both), so that a crash leaves the old one or the
// new.
#pragma once

#include <string>
#include <vector>

#include "jail/supervisor/invites.h"

namespace mayfly {

Expected<std::vector<Invite>> read_invites(const std::string& directory);  // none when there is no file
Expected<void> write_invites(const std::string& directory, const std::vector<Invite>& invites);

}  // namespace mayfly
