// How the three processes of an engine are started (wire/startup.h): the supervisor, then a builder and a witness that
// hold its pidfd. Used by the keeper (`mayfly serve`) and by PrivateEngine (`mayfly run`, tests).
//
// Each of them is in a process group of its own: the ^C of a terminal is for us alone, never for them.
#pragma once

#include <string>
#include <vector>

#include "jail/expected.h"
#include "jail/os/child.h"
#include "jail/os/fd.h"

namespace mayfly {

struct CorePrograms {
  std::string builder, witness, supervisor;    // absolute paths
  std::vector<std::string> builder_arguments;  // after argv[0]; none but in tests (mayfly-builder-faulty)
};

// What the processes get; nothing in here is owned.
struct CoreDescriptors {
  int keeper_pidfd = -1;
  int bind_table = -1;  // sealed
  int config = -1;      // sealed, wire/supervisor_config.h
  int lease = -1;       // listening, or connected
  int monitor = -1;     // -1: none
  int uid_lock = -1;    // -1: none (rootless)
};

struct Core {
  Fd channel;  // our end of the supervisor's keeper socket
  Child supervisor, builder, witness;
};
Expected<Core> start_core(const CorePrograms& programs, const CoreDescriptors& with);

// A builder or a witness started anew for a supervisor that lives.
struct Restarted {
  Child child;
  Fd control;  // the supervisor's end, to be sent with NewBuilder or NewWitness
};
Expected<Restarted> start_builder(const CorePrograms& programs, const CoreDescriptors& with,
                                  const Fd& supervisor_pidfd);
Expected<Restarted> start_witness(const CorePrograms& programs, const CoreDescriptors& with,
                                  const Fd& supervisor_pidfd);

// Starts it waiting, gives it its own process group; the caller lets it go().
Expected<Child> start_apart(ChildProgram program);

}  // namespace mayfly
