// Measuring the controls of one jail on its program's own process, as it waits at the gate (design section 6).
//
//   auto measurer = TRY(ControlMeasurer::make({config.uid_base, rootless}));     // once, before confinement
//   Controls placed = TRY(measurer.measure_placed(facts));        // at Placed, while inside goes on
//   Controls controls = TRY(measurer.measure_at_gate(facts, placed));
//
// In two halves, because the first takes ten times as long as the second. What is in it cannot change any more when
// Placed is sent: that takes a capability, and the program's process has none left and can gain none (its user
// namespace may have no further one below it). Everything that is still to come is in the second half.
// Everything is read from outside, in /proc/<pid> and the cgroup files; two layers that /proc does not show (Landlock
// and which filter it is) come from the proof that inside sent. Nothing is copied from what was asked for: a control
// that the host cannot give is reported Absent or Unlimited; one that was asked for and is found to be otherwise is a
// Failure, and the jail must not run: subject is the control, why says what was expected and what was found.
// One pass: one directory descriptor, some twenty opens, one buffer. Owner: supervisor. Side: outside.
// Sources: proc(5), namespaces(7), user_namespaces(7), capabilities(7), landlock(7).
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "jail/expected.h"
#include "jail/spec/controls.h"
#include "jail/spec/spec.h"
#include "jail/supervisor/cgroup.h"
#include "jail/wire/gate.h"
#include "jail/wire/plan.h"

namespace mayfly {

enum class RelayState : std::uint8_t { Missing, Attached };

// The program that waits at its gate, and what was asked for it.
struct GateFacts {
  pid_t program = 0;  // from SCM_CREDENTIALS: the kernel's word, not the jail's
  std::uint32_t slot = 0;
  const GateMessage& proof;
  const Spec& spec;
  const JailCgroup& group;
  RelayState relay = RelayState::Missing;
  const BuilderReply& builder;  // its Ready: what a jail of its has, and must not share with it
};

struct MeasureSettings {
  std::uint32_t uid_base = 0;  // of this instance's block
  bool rootless = false;
};

// Inode numbers of user, mnt, pid, net, ipc, uts, cgroup.
using NamespaceIds = std::array<std::uint64_t, kNamespaceCount>;

class ControlMeasurer {
 public:
  // Remembers our own namespaces and asks the kernel for Landlock: call it before our own filter is on.
  static Expected<ControlMeasurer> make(const MeasureSettings& settings);

  // Namespaces, network, id maps, mounts, groups: network, filesystem, proc, memory, cpu, processes.
  [[nodiscard]] Expected<Controls> measure_placed(const GateFacts& facts) const;
  // Ids, rlimits, capabilities, filter, Landlock, environment; adds what is missing in `placed`, of the same process.
  [[nodiscard]] Expected<Controls> measure_at_gate(const GateFacts& facts, const Controls& placed) const;
  [[nodiscard]] std::uint32_t landlock_abi() const { return landlock_abi_; }  // 0: this kernel has none

 private:
  ControlMeasurer(const MeasureSettings& settings, const NamespaceIds& ours, std::uint32_t landlock_abi)
      : settings_(settings), ours_(ours), landlock_abi_(landlock_abi) {}

  MeasureSettings settings_;
  NamespaceIds ours_;
  std::uint32_t landlock_abi_;
};

// Asks the kernel (landlock_create_ruleset(2) with LANDLOCK_CREATE_RULESET_VERSION).
std::uint32_t kernel_landlock_abi();

}  // namespace mayfly
