// Plan: the fixed struct that the supervisor hands to the builder for one jail. It names no host path: binds come
// from the bind table (bind_table.h) by number. Plain old data, one release on both sides, no pointers; strings are
// ranges of `text` or of the payload memfd. A plan that does not pass judge() builds nothing.
//
// One SEQPACKET message: what is used of the struct (pack_plan), and these descriptors in this order:
//   0 gate     our end of the gate socket for inside (gate.h); SEQPACKET
//   1 stream   the socket to the relay, to which inside sends the outer ends of the streams (relay.h)
//   2 payload  sealed memfd, or absent (has_payload == 0)
//   3.. cgroup cgroup_fds of them: v2: one directory for CLONE_INTO_CGROUP; v1: one `tasks` file per controller
// The pidfd of the supervisor is given to the builder once, at its start.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "jail/spec/limits.h"
#include "jail/spec/step.h"

namespace mayfly {

struct PlanText {
  std::uint8_t in_payload = 0;  // 0: range of Plan::text, 1: range of the payload memfd
  std::uint8_t unused[3] = {};
  std::uint32_t offset = 0;
  std::uint32_t length = 0;  // without a terminating NUL; a NUL inside is refused by judge() or by inside
};

struct PlanFile {
  char name[224] = {};  // NUL-terminated, relative, judged safe
  std::uint32_t offset = 0;
  std::uint32_t length = 0;
  std::uint32_t executable = 0;
};

enum class CgroupKind : std::uint8_t { None, V1, V2 };

struct Plan {
  static constexpr std::uint32_t kMagic = 0x6d61'7901;
  static constexpr std::size_t kMaxArgv = kMaxArguments + 8;
  static constexpr std::size_t kMaxEnvironment = 8;

  std::uint32_t magic = kMagic;
  std::uint32_t slot = 0;  // 0..kSlotsPerInstance-1; uids are uid_base + 4 * slot + {0 owner, 1 init, 2 run, 3 relay}
  char jail[32] = {};      // JailId text, for diagnostics
  std::uint32_t bind_row = 0;  // row of the bind table
  CgroupKind cgroup = CgroupKind::None;
  std::uint8_t cgroup_fds = 0;
  std::uint8_t has_payload = 0;
  std::uint8_t terminal = 0;  // 1: a pty instead of three pipes
  std::uint16_t columns = 80, rows = 24;
  std::uint8_t reproducible = 0;
  std::uint8_t prepared = 0;  // 1: Prepare was told
  std::uint8_t unused[2] = {};

  // Limits that inside applies itself.
  std::uint64_t disk_bytes = 0, memory_bytes = 0;
  std::uint32_t inodes = 0, processes = 0, open_files = 0, milli_cpus = 0;
  std::uint64_t wall_ms = 0;  // pid 1 ends the jail at wall_ms + kWallBackup by itself
  std::uint64_t cpu_ms = 0;   // RLIMIT_CPU backup, per process

  std::uint32_t argv_count = 0, environment_count = 0, file_count = 0, text_length = 0;
  std::array<PlanText, kMaxEnvironment> environment{};
  // From here on only what is used travels.
  std::array<PlanText, kMaxArgv> argv{};
  std::array<char, 8192> text{};
  std::array<PlanFile, kMaxFileCount + 1> files{};
};
inline constexpr std::size_t kPlanHead = offsetof(Plan, argv);

// Told before a plan, while its cgroups are being made: make the network namespace and the root of a jail that is about
// to come. At most one is kept, for the very next plan and only if that says `prepared`.
struct Prepare {
  static constexpr std::uint32_t kMagic = 0x6d61'7902;
  std::uint32_t magic = kMagic;
};

inline std::size_t plan_size(const Plan& plan) {
  return kPlanHead + plan.argv_count * sizeof(PlanText) + plan.text_length + plan.file_count * sizeof(PlanFile);
}

// The message: plan_size() bytes at `into`. The counts are within their arrays.
inline void pack_plan(const Plan& plan, std::byte* into) {
  std::memcpy(into, &plan, kPlanHead);
  into += kPlanHead;
  std::memcpy(into, plan.argv.data(), plan.argv_count * sizeof(PlanText));
  into += plan.argv_count * sizeof(PlanText);
  std::memcpy(into, plan.text.data(), plan.text_length);
  into += plan.text_length;
  std::memcpy(into, plan.files.data(), plan.file_count * sizeof(PlanFile));
}

// False: not a plan of this release, or not of the size that its counts say. Then of `into` the head alone may be read.
inline bool unpack_plan(std::span<const std::byte> message, Plan& into) {
  if (message.size() < kPlanHead) return false;
  std::memcpy(static_cast<void*>(&into), message.data(), kPlanHead);  // trivially copyable (fixed_message.h)
  if (into.magic != Plan::kMagic || into.argv_count > into.argv.size() || into.text_length > into.text.size() ||
      into.file_count > into.files.size() || message.size() != plan_size(into))
    return false;
  const std::byte* at = message.data() + kPlanHead;
  std::memcpy(into.argv.data(), at, into.argv_count * sizeof(PlanText));
  at += into.argv_count * sizeof(PlanText);
  std::memcpy(into.text.data(), at, into.text_length);
  at += into.text_length;
  std::memcpy(into.files.data(), at, into.file_count * sizeof(PlanFile));
  return true;
}

// builder -> supervisor. With Cloned comes one descriptor: the pidfd of pid 1.
// Which namespaces a jail has of its own: links below /proc/<pid>, in the order of BuilderReply::namespaces.
inline constexpr std::array kNamespaceLinks = {"ns/user", "ns/mnt", "ns/pid",   "ns/net",
                                               "ns/ipc",  "ns/uts", "ns/cgroup"};
inline constexpr std::size_t kNamespaceCount = kNamespaceLinks.size();

enum class BuilderSays : std::uint32_t {
  Ready,     // once, after start: prepared trees are there
  Cloned,    // pid 1 exists; from now on inside speaks on the gate socket
  Failed,    // before or at the clone; nothing of the jail is left
  Released,  // the kernel has freed the jail's network namespace (RTM_DELNSID); only after Cloned
};

inline constexpr std::array kOutsideSteps = {Step::JoinNetwork, Step::MakeRoot, Step::CopyTrees,    Step::Clone,
                                             Step::MapIds,      Step::FitRoot,  Step::RaiseLoopback};

struct BuilderReply {
  BuilderSays says = BuilderSays::Failed;
  std::uint32_t slot = 0;
  std::int32_t pid = 0;                // of pid 1, in the builder's pid namespace (the host's)
  std::uint32_t step = 0;              // Step, with Failed
  std::int32_t error = 0;              // errno, with Failed
  std::uint32_t parts_made_ahead = 0;  // network namespace and root
  std::uint32_t proc_available = 0;    // with Ready: whether jails get a procfs of their own
  std::uint32_t landlock_abi = 0;      // with Ready: 0 = the kernel has none
  std::uint32_t proc_masks = 0;        // with Ready: how many mounts cover parts of a jail's procfs
  // With Ready: inode numbers of the builder's own, as kNamespaceLinks.
  std::array<std::uint64_t, kNamespaceCount> namespaces{};
  std::array<std::uint32_t, kOutsideSteps.size()> outside_us{};  // time of each, in their order
};

}  // namespace mayfly
