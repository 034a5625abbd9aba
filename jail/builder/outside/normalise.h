// Brings every inheritable attribute of a process to a known value, once, in the builder: jails inherit nothing of
// whoever started the service. What a jail needs otherwise is set inside.
#pragma once

#include "jail/builder/host_facts.h"

namespace mayfly {

// Signals: all default but SIGCHLD (children are reaped by the kernel) and SIGPIPE (a gone supervisor), none blocked.
// Scheduling: SCHED_OTHER, no ioprio, default timer slack. Personality 0, umask 0, no supplementary groups, a session
// keyring of our own, empty.
void normalise(Privilege privilege);

// As root: capabilities stay when the effective uid changes, so that jails' namespaces can be owned by other uids.
int keep_capabilities();

// Limits, processors, Landlock, the links of a merged /usr. Before the host's tree is gone.
void look_at_host(HostFacts& facts);

// Whose namespaces no jail may share. 0 or errno.
int name_own_namespaces(HostFacts& facts, int host_proc);

// Which paths a procfs of this kernel has that jails must not see. After the builder's root was entered.
void choose_masks(HostFacts& facts);

}  // namespace mayfly
