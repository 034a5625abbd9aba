// Writes the id maps of a new user namespace from outside (user_namespaces(7)): inside there are init and run, and no
// uid 0. Rootless: the caller alone, as 1000. Usable without allocation. 0 or an errno.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "jail/builder/host_facts.h"

namespace mayfly {

int write_id_maps(const HostFacts& host, int host_proc, pid_t child, std::uint32_t slot);

}  // namespace mayfly
