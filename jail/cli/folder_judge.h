// Whether a directory of the host may be shown to jails: what the configuration names as a profile's `seed` or
// `readonly`. Everybody who may log in with the profile can read what is in it.
#pragma once

#include <string>
#include <vector>

#include "jail/expected.h"
#include "jail/spec/profile.h"

namespace mayfly {

// Fails, saying what to do, unless `path` is the absolute path of a directory, not of the kernel's, with no symlink on
// its way and no parent in which another than root and we could put something else in its place, and which the
// programs of jails can read: as root they run under ids of their own. What is in it does not matter: sockets and FIFOs
// are not copied with a seed, and lead nowhere behind the overlay of `readonly` (decision 0015).
Expected<void> judge_folder(const std::string& path);

// Which directory it is now: device and inode, "254:0 17". Empty where there is none.
std::string identity_of_folder(const std::string& path);

// No folder of a profile may hold, or lie in, one of these directories of ours: the state directory has the host key
// and the digests of invites, which an ordinary user's jails could read there.
Expected<void> keep_apart(const Catalogue& catalogue, const std::vector<std::string>& ours);

}  // namespace mayfly
