// Step: every named step of building a jail, in order. A failure names its step; the result may carry the times.
// Values cross the wire between builder and supervisor (same release on both sides).
#pragma once

#include <cstdint>
#include <string_view>

namespace mayfly {

enum class Step : std::uint8_t {
  None,
  // outside: in the builder, before and just after the clone
  JoinNetwork,    // setns into a network namespace, made ahead, prepared or now
  MakeRoot,       // tmpfs and its directories, where there is none made ahead
  CopyTrees,      // open_tree clones of the prepared trees
  Clone,          // clone3
  MapIds,         // uid_map and gid_map
  FitRoot,        // limits and owners of the root, Landlock's rules for its trees
  RaiseLoopback,  // lo up and the namespace set small, when it was not made ahead; inside is at work already
  // inside: pid 1
  EnterCgroup,  // v1: writing 0 to tasks
  AwaitIds,     // until the maps are there
  BecomeInit,   // set ids of init, host name
  PlaceTrees,   // move_mount of the root, and of /usr, /etc, /dev into it
  MountProc,    // procfs and its masks
  MountDevpts,
  SealNamespaces,  // user.max_*_namespaces = 0
  PivotRoot,       // and detach the old root
  MakeStreams,     // pipes or pty, handed to the relay
  LockInit,        // capabilities, no_new_privs, filter of pid 1
  Fork,            // the program's process
  // inside: the program's process
  NewSession,  // setsid, controlling terminal, standard streams
  WriteFiles,  // code and files of the request
  SetLimits,   // rlimits, affinity
  BecomeRun,   // ids, capabilities, no_new_privs
  Landlock,
  Filter,   // seccomp
  Gate,     // controls are proved, the supervisor is told, we wait
  Execute,  // execve
};

inline constexpr std::uint8_t kStepCount = static_cast<std::uint8_t>(Step::Execute) + 1;

std::string_view name(Step step);  // "MakeRoot"

}  // namespace mayfly
