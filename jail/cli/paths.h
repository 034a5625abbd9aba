// Where things are: state (keys, locks), run (sockets) and the runtime directory that every engine of this user shares
// (instance locks, the table of uid blocks). Design section 9.
//   as root    state /var/lib/mayfly                    run /run/mayfly     runtime /run/mayfly
//   rootless   state $XDG_STATE_HOME/mayfly             run = runtime       runtime $XDG_RUNTIME_DIR/mayfly
//   --state D  state D                                  run D/run           runtime as above
// The runtime directory does not move with --state: two engines on one host must see each other's locks.
#pragma once

#include <string>
#include <string_view>

#include "jail/expected.h"
#include "jail/os/namespace_switches.h"

namespace mayfly {

// Whether this process can build jails with uids of their own. Root in a container that lacks the capabilities or the
// uid range cannot, and is treated like any other user.
enum class Privilege : unsigned char { Root, Rootless };
Privilege current_privilege();
inline EngineUser engine_user(Privilege privilege) {
  return privilege == Privilege::Root ? EngineUser::Root : EngineUser::Ordinary;
}

struct Paths {
  std::string state, run, runtime, config;
  bool state_was_named = false;  // by --state or MAYFLY_STATE
};

// `state`: the value of --state, or "". Reads the environment; fails only when a home directory is needed and unknown,
// or when a name is not absolute and cannot be made so.
Expected<Paths> find_paths(Privilege privilege, std::string state);

// Makes `path` (and its parents, 0755) with this mode. One that exists must be a directory of ours that nobody else
// can write to: otherwise whoever can would choose our sockets and locks.
Expected<void> make_directory(const std::string& path, unsigned mode);

}  // namespace mayfly
