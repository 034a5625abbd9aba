// The gate socket: SEQPACKET between the supervisor and the inside of one jail. Inside has two speakers, one after
// the other: the program's process until its execve (CLOEXEC closes its copy), and pid 1 all along. While the
// program waits at the gate pid 1 is suspended (vfork), so no two of them ever read at once.
// The supervisor's end has SO_PASSCRED: the sender's real pid comes with every message from inside.
#pragma once

#include <array>
#include <cstdint>

#include "jail/spec/step.h"

namespace mayfly {

enum class GateSays : std::uint32_t {
  StepFailed,  // from either: step, error. Nothing follows.
  Placed,      // from the program's process: namespaces, mounts and groups are final, no capability is left
  AtGate,      // from the program's process: every layer is on, it waits
  Ended,       // from pid 1: the main program has ended, wait_status
};

// inside -> supervisor
struct GateMessage {
  GateSays says = GateSays::StepFailed;
  std::uint32_t step = 0;          // Step
  std::int32_t error = 0;          // errno. For Step::Execute: why execve failed
  std::uint32_t file = 0;          // of a failed Step::WriteFiles: which of the plan's files, from 1; 0: the seed
  std::int32_t wait_status = 0;    // waitpid(2)
  std::uint32_t proc_mounted = 0;  // with Placed
  std::uint32_t seeded = 0;        // with Placed: the profile's seed has been copied
  // With AtGate, proved from inside (what /proc does not show):
  std::int32_t landlock_errno = 0;  // of opening a file that only Landlock denies: EACCES = works, 0 = absent
  std::int32_t filter_errno = 0;    // of the reserved call: must equal the filter's build id
  std::uint32_t environment_count = 0;
  std::uint64_t environment_hash = 0;  // FNV-1a 64 over the entries handed to execve, each with its NUL
  std::array<std::uint32_t, kStepCount> step_us{};
  std::uint32_t disk_full = 0, inodes_full = 0;  // with Ended: the jail's root has no block, no inode left
  std::uint64_t cpu_us = 0;  // with Ended: user+system of all reaped children (getrusage RUSAGE_CHILDREN)
};

enum class GateOrder : std::uint32_t { Open, Signal };

// supervisor -> inside. Open is read by the program's process, Signal by pid 1 and only after Open.
struct GateCommand {
  GateOrder order = GateOrder::Open;
  std::int32_t signal_number = 0;  // to the process group of the main program
};

inline constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325ull;
constexpr std::uint64_t fnv1a(std::uint64_t hash, const char* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3ull;
  return hash;
}

}  // namespace mayfly
