#include "jail/supervisor/measure.h"

#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "jail/builder/filter/build_id.h"
#include "jail/supervisor/measure_filesystem.h"
#include "jail/supervisor/measure_proc.h"
#include "jail/supervisor/measure_text.h"

namespace mayfly {
namespace {

tl::unexpected<Failure> wrong(Control control, std::string why) {
  return failure("measure control", 0, std::string(name(control)), std::move(why));
}

// Which control is broken when a namespace is shared with us. In the order of NamespaceIds.
constexpr std::array<Control, kNamespaceCount> kGuards = {Control::Identity, Control::Filesystem, Control::Proc,
                                                          Control::Network,  Control::Files,      Control::Identity,
                                                          Control::Memory};

Expected<void> judge_namespaces(const ProcDirectory& proc, const NamespaceIds& ours, const NamespaceIds& builders) {
  const NamespaceIds theirs = TRY(proc.namespaces());
  for (std::size_t i = 0; i < kNamespaceCount; ++i) {
    if (theirs[i] == ours[i])
      return wrong(kGuards[i], std::string("the program shares our ") + namespace_name(i) + " namespace");
    if (theirs[i] == builders[i])
      return wrong(kGuards[i], std::string("the program shares the builder's ") + namespace_name(i) + " namespace");
  }
  return {};
}

Expected<void> judge_network(ProcDirectory& proc) {
  if (has_only_loopback(TRY(proc.read("net/dev")))) return {};
  return wrong(Control::Network, "there is another interface than lo, or none");
}

// The outside ids of the program (user and group alike), and the whole map that there should be.
struct ExpectedIds {
  std::uint32_t run = 0;
  IdMap map;
};

ExpectedIds expected_ids(const MeasureSettings& settings, std::uint32_t slot, std::uint32_t ours) {
  ExpectedIds ids;
  if (settings.rootless) {
    ids.run = ours;
    ids.map.rows[ids.map.count++] = {kInsideRunUid, ours, 1};
    return ids;
  }
  const std::uint32_t first = settings.uid_base + kUidsPerSlot * slot;
  ids.run = first + 2;
  ids.map.rows[ids.map.count++] = {kInsideInitUid, first + 1, 1};
  ids.map.rows[ids.map.count++] = {kInsideRunUid, first + 2, 1};
  return ids;
}

Expected<void> judge_map(ProcDirectory& proc, const char* file, const IdMap& expected) {
  const std::optional<IdMap> found = parse_id_map(TRY(proc.read(file)));
  if (!found || !(*found == expected))
    return wrong(Control::Identity, std::string(file) + " is not what was asked for");
  return {};
}

Expected<void> judge_maps(ProcDirectory& proc, const MeasureSettings& settings, std::uint32_t slot) {
  TRY(judge_map(proc, "uid_map", expected_ids(settings, slot, ::geteuid()).map));
  return judge_map(proc, "gid_map", expected_ids(settings, slot, ::getegid()).map);
}

Expected<Measured> measure_identity(const StatusText& status, const MeasureSettings& settings, std::uint32_t slot) {
  const ExpectedIds users = expected_ids(settings, slot, ::geteuid());
  const ExpectedIds groups = expected_ids(settings, slot, ::getegid());
  for (std::size_t i = 0; i < status.uid.size(); ++i)
    if (status.uid[i] != users.run || status.gid[i] != groups.run)
      return wrong(Control::Identity, "the program runs as uid " + std::to_string(status.uid[i]) + ", gid " +
                                          std::to_string(status.gid[i]));
  // Rootless the caller's own groups cannot be dropped: setgroups(2) is denied before the map may be written.
  if (!settings.rootless && status.groups != 0)
    return wrong(Control::Identity, "the program has " + std::to_string(status.groups) + " supplementary groups");
  return settings.rootless ? Measured::UserNamespaceSharedUid : Measured::UserNamespace;
}

Expected<Measured> measure_privileges(const StatusText& status) {
  const std::uint64_t any =
      status.cap_inheritable | status.cap_permitted | status.cap_effective | status.cap_bounding | status.cap_ambient;
  if (any != 0) return wrong(Control::Privileges, "the program has or may gain capabilities");
  if (status.no_new_privs != 1) return wrong(Control::Privileges, "no_new_privs is not set");
  return Measured::None;
}

Expected<Measured> measure_syscalls(const StatusText& status, const GateMessage& proof) {
  if (status.seccomp != 2) return wrong(Control::Syscalls, "no seccomp filter is loaded");
  if (proof.filter_errno != kFilterBuildErrno)
    return wrong(Control::Syscalls, "the filter is another one: its build id is " + std::to_string(proof.filter_errno) +
                                        ", expected " + std::to_string(kFilterBuildErrno));
  return Measured::Seccomp;
}

Expected<Measured> measure_files(const GateMessage& proof, std::uint32_t abi) {
  if (abi == 0) return Measured::Absent;
  if (proof.landlock_errno == EACCES) return Measured::Landlock;
  return wrong(Control::Files, "a file that only Landlock denies could be opened, or not be found: errno " +
                                   std::to_string(proof.landlock_errno));
}

Expected<Measured> measure_environment(const GateMessage& proof, const Spec& spec) {
  std::uint64_t hash = kFnvOffset;
  for (const std::string& entry : spec.environment) hash = fnv1a(hash, entry.c_str(), entry.size() + 1);
  if (proof.environment_count == spec.environment.size() && proof.environment_hash == hash) return Measured::Cleared;
  return wrong(Control::Environment, "the program would get " + std::to_string(proof.environment_count) +
                                         " entries, or other ones, than the " +
                                         std::to_string(spec.environment.size()) + " that were asked for");
}

// With a jail's own cgroup the word is its kind; without a controller it is `otherwise`.
Expected<Measured> group_word(Control control, LimitState state, const JailCgroup& group, const std::string& why,
                              Measured otherwise) {
  if (state == LimitState::Other) return wrong(control, why);
  if (state == LimitState::NoController) return otherwise;
  return group.kind() == CgroupKind::V1 ? Measured::CgroupV1 : Measured::CgroupV2;
}

// The rlimits that inside sets: open files always, processes where no cgroup counts them.
Expected<void> judge_rlimits(ProcDirectory& proc, const Limits& limits, Measured counted_by) {
  const std::string_view text = TRY(proc.read("limits"));
  const auto files = find_limit(text, "Max open files");
  if (!files || files->hard > limits.open_files) return wrong(Control::Processes, "the limit of open files is not set");
  const auto processes = find_limit(text, "Max processes");
  const std::uint64_t most = counted_by == Measured::Rlimit ? limits.processes : rlimit_behind_group(limits.processes);
  if (!processes || processes->hard > most)
    return wrong(Control::Processes, "RLIMIT_NPROC is above " + std::to_string(most));
  return {};
}

Expected<void> measure_groups(ProcDirectory& proc, const GateFacts& facts, Controls& controls) {
  const GroupMeasured found = facts.group.measure(TRY(proc.read("cgroup")));
  const auto set = [&](Control control, LimitState state, Measured otherwise) -> Expected<void> {
    controls.set(control, TRY(group_word(control, state, facts.group, found.disagreement, otherwise)));
    return {};
  };
  TRY(set(Control::Memory, found.memory, Measured::Unlimited));
  TRY(set(Control::Cpu, found.cpu, Measured::Unlimited));
  return set(Control::Processes, found.processes, Measured::Rlimit);
}

}  // namespace

std::uint32_t kernel_landlock_abi() {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi > 0 ? static_cast<std::uint32_t>(abi) : 0;
}

Expected<ControlMeasurer> ControlMeasurer::make(const MeasureSettings& settings) {
  const ProcDirectory self = TRY(ProcDirectory::open_self({}));
  return ControlMeasurer(settings, TRY(self.namespaces()), kernel_landlock_abi());
}

Expected<Controls> ControlMeasurer::measure_placed(const GateFacts& facts) const {
  std::array<char, ProcDirectory::kBuffer> buffer;
  ProcDirectory proc = TRY(ProcDirectory::open(facts.program, buffer));
  Controls controls;
  TRY(judge_namespaces(proc, ours_, facts.builder.namespaces));
  TRY(judge_network(proc));
  controls.set(Control::Network, Measured::None);
  TRY(judge_maps(proc, settings_, facts.slot));

  const Limits& limits = facts.spec.limits;
  const FilesystemFacts filesystem{limits.disk.count, limits.inodes, facts.proof.proc_mounted != 0,
                                   facts.builder.proc_masks, facts.spec.has_data};
  if ((facts.proof.seeded != 0) != facts.spec.has_seed)
    return wrong(Control::Filesystem, facts.spec.has_seed ? "the profile's seed is not in the home directory"
                                                          : "there is a seed of nobody's in the home directory");
  TRY(judge_mounts(TRY(proc.read("mountinfo")), filesystem));
  controls.set(Control::Filesystem, Measured::Ephemeral);
  controls.set(Control::Proc, filesystem.proc_mounted ? Measured::Private : Measured::Absent);
  TRY(measure_groups(proc, facts, controls));
  return controls;
}

Expected<Controls> ControlMeasurer::measure_at_gate(const GateFacts& facts, const Controls& placed) const {
  std::array<char, ProcDirectory::kBuffer> buffer;
  ProcDirectory proc = TRY(ProcDirectory::open(facts.program, buffer));
  Controls controls = placed;
  const std::optional<StatusText> status = parse_status(TRY(proc.read("status")));
  if (!status) return failure("understand the program's status", 0, "/proc/<pid>/status");
  controls.set(Control::Identity, TRY(measure_identity(*status, settings_, facts.slot)));
  controls.set(Control::Privileges, TRY(measure_privileges(*status)));
  controls.set(Control::Syscalls, TRY(measure_syscalls(*status, facts.proof)));
  controls.set(Control::Files, TRY(measure_files(facts.proof, landlock_abi_)));
  controls.set(Control::Environment, TRY(measure_environment(facts.proof, facts.spec)));

  TRY(judge_rlimits(proc, facts.spec.limits, placed.at(Control::Processes)));
  // The supervisor's own wall clock: there is no jail without its timer (the gate has not opened yet).
  controls.set(Control::Time, Measured::Supervisor);
  controls.set(Control::Output, facts.relay == RelayState::Attached ? Measured::Witness : Measured::Absent);
  return controls;
}

}  // namespace mayfly
