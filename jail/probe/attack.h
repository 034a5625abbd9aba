// The attacks of mayfly-probe: each tries one thing that a jail must not allow, and says what the kernel answered.
// Side: inside a jail, and outside in the control run. No heap, no exceptions; every attack runs in a child of its own,
// so that one that is killed for trying is told apart. Nothing is left behind where an attack works.
#pragma once

#include <cstddef>

namespace mayfly::probe {

// What the examiner outside has prepared, so that attacks have something real to reach for.
struct Targets {
  int port = 0;                    // a TCP listener on 127.0.0.1
  const char* abstract_name = "";  // an abstract Unix socket that listens
  int host_pid = 0;                // a process of the host
  const char* secret_path = "";    // a file of the host that this user may read
};

// 0: the attack worked. Positive: the errno with which it was refused.
struct Attack {
  const char* name;
  int (*attempt)(const Targets& targets);
};

// Several files, one table each.
struct AttackTable {
  const Attack* rows;
  std::size_t count;
};
AttackTable network_attacks();
AttackTable file_attacks();
AttackTable kernel_attacks();

}  // namespace mayfly::probe
