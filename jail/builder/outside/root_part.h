// A jail's root before it is a jail's: an empty tmpfs with its directories, mounted nowhere, that has never held a file
// but the canary, and a Landlock ruleset that knows these directories. Made ahead, or while cgroups are made, or when
// the plan is there; each is used for exactly one jail. Bytes, inodes, owners and the rules for its trees are set when
// it is known for which (tmpfs(5): remounting sets size and nr_inodes). Owner: builder. Side: outside. Needs
// CAP_SYS_ADMIN in the builder's user namespace, and as root CAP_CHOWN.
#pragma once

#include <array>

#include "jail/builder/host_facts.h"
#include "jail/os/fd.h"

namespace mayfly {

struct RootPart {
  Fd tree;     // detached mount
  Fd context;  // fsopen(2): through it the same tmpfs is configured again
  Fd ruleset;  // landlock_create_ruleset(2); none where the kernel has no Landlock
};

// 0 or an errno.
int make_root_part(const HostFacts& host, RootPart& made);

// For the jail of this plan: its limits, its ids on what belongs to it, rules for its own copies of the row's trees.
// 0 or an errno.
using TreeFds = std::array<int, PreparedRow::kMostTrees>;
int fit_root(const HostFacts& host, const Plan& plan, const RootPart& root, const TreeFds& trees);

}  // namespace mayfly
