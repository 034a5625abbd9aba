// Control groups: memory, processes and CPU of each jail, and of all jails of one engine together.
//
// CgroupHost is this engine's place in the host's hierarchies: a parent group "mayfly-<instance>" with the host
// limits, on cgroup v2 (cgroup_v2.cpp), on v1 (cgroup_v1.cpp, one directory per hierarchy) or nowhere
// (cgroup_none.cpp). JailCgroup is the group of exactly one jail; no directory is ever used twice.
//
//   auto host = TRY(CgroupHost::open({instance, policy.host, policy.made_ahead}, CgroupSight::of_this_process()));
//   auto group = TRY(host->make(slot, group_limits(spec.limits)));
//   ... plan.cgroup = group.kind(), send group.attach_fds() with the plan; on Cloned and AtGate: group.attached() ...
//   ... loop.watch(group.oom_fd(), group.oom_interest(), ...): group.look_for_oom() ...
//   ... at the end: group.lift_cpu_quota(), kill pid 1, account(), events(), remove() ...
//
// Owner: supervisor. Side: outside. Each controller is judged on its own: a host that delegates pids alone limits
// processes, and says that memory and cpu are unlimited. Nothing here blocks, but kill_all(), clean_stale() and the
// destructors, which are bounded. Sources: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/ of Linux.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jail/expected.h"
#include "jail/os/fd.h"
#include "jail/spec/controls.h"
#include "jail/spec/limits.h"
#include "jail/spec/policy.h"
#include "jail/spec/result.h"
#include "jail/wire/plan.h"

namespace mayfly {

// The part of Limits that a control group holds.
struct GroupLimits {
  Bytes memory;
  std::uint32_t processes = 0;
  MilliCpus cpus;
  friend bool operator==(const GroupLimits&, const GroupLimits&) = default;
};
// RLIMIT_NPROC where a group counts processes too: forks that are under way count there already, so that at the same
// number a storm of them would meet the rlimit first, and the limit that was reached could not be told.
constexpr std::uint32_t rlimit_behind_group(std::uint32_t processes) { return 2 * processes; }

inline GroupLimits group_limits(const Limits& limits) { return {limits.memory, limits.processes, limits.cpus}; }

// What runs now. A value is missing, with the reason, where the controller is.
struct GroupUsage {
  Measurement<Bytes> memory;
  Measurement<Microseconds> cpu;  // since the jail began; user and system
  Measurement<std::uint32_t> processes;
};

// For the result; asked once, after the last process is dead and before remove().
struct GroupAccounting {
  Measurement<Microseconds> cpu;
  Measurement<Bytes> memory_peak;
  Measurement<std::uint32_t> processes_peak;
};

// Counts since the group was made; 0 where the host cannot tell.
struct GroupEvents {
  std::uint64_t oom_kills = 0;        // processes that the kernel killed for want of memory
  std::uint64_t memory_max_hits = 0;  // charges that met the limit (reclaim may have helped)
  std::uint64_t pids_max_hits = 0;    // forks refused with EAGAIN
};

// After oom_fd() became readable. `Pending`: v1 announces an OOM just before it kills, so look again after a few
// milliseconds (three times is enough).
enum class OomSign : std::uint8_t { None, Pending, Struck };

// One limit as the kernel holds it now.
enum class LimitState : std::uint8_t { NoController, AsAsked, Other };
struct GroupMeasured {
  LimitState memory = LimitState::NoController;
  LimitState cpu = LimitState::NoController;
  LimitState processes = LimitState::NoController;
  std::string disagreement;  // names file, asked and found value of the first Other; for Failure::why
};

class JailGroup;  // cgroup_group.h: one implementation per kind

// The group of one jail. Move-only. An empty one (also what make() gives on a host without) limits nothing, has no
// descriptors, and answers every question with "unknown". Destruction kills every process in it and removes it.
class JailCgroup {
 public:
  JailCgroup();
  explicit JailCgroup(std::unique_ptr<JailGroup> group);
  JailCgroup(JailCgroup&&) noexcept;
  JailCgroup& operator=(JailCgroup&&) noexcept;
  ~JailCgroup();

  [[nodiscard]] CgroupKind kind() const;
  [[nodiscard]] bool made_ahead() const;

  // For the Plan, borrowed: v2: the directory, for CLONE_INTO_CGROUP; v1: one `tasks` file per hierarchy, opened for
  // writing by us (the kernel judges by who opened it), in which inside writes "0". Empty once attached() was called.
  [[nodiscard]] std::span<const int> attach_fds() const;
  void attached();  // closes them

  // For the relay, borrowed: writing kill_text() there lifts the CPU quota (v1) or kills the whole group (v2).
  // -1 when there is nothing to lift or kill with.
  [[nodiscard]] int kill_fd() const;
  [[nodiscard]] const char* kill_text() const;  // "-1" or "1"

  // v2 needs none (cgroup.kill is not throttled), but is given one all the same. Idempotent.
  Expected<void> lift_cpu_quota();
  // v2: one write. v1: no forks any more, quota lifted, SIGKILL to each until none is left, 200 ms at most (then
  // ETIMEDOUT). The ordinary end kills pid 1 by its pidfd; this is for what has no pid 1.
  Expected<void> kill_all();

  [[nodiscard]] GroupUsage usage() const;
  [[nodiscard]] GroupAccounting account() const;
  [[nodiscard]] GroupEvents events() const;

  // Watch with oom_interest() (EPOLLIN on v1, EPOLLPRI on v2); -1 when the host gives no such event, then events()
  // after the end is all there is. Always call look_for_oom() when it fires: that is what makes it quiet again.
  [[nodiscard]] int oom_fd() const;
  [[nodiscard]] std::uint32_t oom_interest() const;
  OomSign look_for_oom();

  // Reads the limits back, once they are in force, for measure(): nobody but us can change them.
  void read_back();
  // For measure.h: the limits as they were read back (or are, where they were not), and from the text of
  // /proc/<pid>/cgroup whether the process is in this group in every hierarchy that limits something.
  [[nodiscard]] GroupMeasured measure(std::string_view proc_cgroup) const;

  // rmdir. EBUSY while something dies in there: the Failure has that errno, and remove() may be called again.
  // After success the object is empty.
  Expected<void> remove();

 private:
  std::unique_ptr<JailGroup> group_;
};

// What open() looks at. Tests hand in a fake tree.
class CgroupDirectories {  // the two calls that behave differently in a fake tree
 public:
  virtual ~CgroupDirectories() = default;
  virtual int make(int parent, const char* name);    // mkdirat(2), mode 0755
  virtual int remove(int parent, const char* name);  // unlinkat(2) AT_REMOVEDIR
};
struct CgroupSight {
  std::string mountinfo;    // text of /proc/self/mountinfo
  std::string self_cgroup;  // text of /proc/self/cgroup
  std::shared_ptr<CgroupDirectories> directories;
  static Expected<CgroupSight> of_this_process();
};

struct CgroupPlace {
  std::string instance;  // 12 lower-case hex digits; the caller holds its lock
  HostLimits host;       // zeros as in policy.h
  bool made_ahead = true;
};

// Whether a controller limits here, and if not why and what to do. For host_survey.h.
struct GroupController {
  Measured expected = Measured::Unlimited;  // CgroupV1, CgroupV2, Unlimited; processes: Rlimit
  std::string cause;                        // "" when present
  std::string fix;
};

class CgroupHost {
 public:
  virtual ~CgroupHost() = default;

  // Finds the hierarchies by looking and by trying, removes what an earlier engine of this instance left, makes the
  // parent group. A host without usable cgroups is not a Failure: kind() is None then, and controller() says why.
  // Fails only when the parent group was made and then a host limit that was asked for could not be set.
  static Expected<std::unique_ptr<CgroupHost>> open(const CgroupPlace& place, const CgroupSight& sight);
  // Never looks: for tests of hosts without (use_cgroups == false).
  static std::unique_ptr<CgroupHost> none(std::string cause);

  [[nodiscard]] virtual CgroupKind kind() const = 0;
  [[nodiscard]] const char* kind_name() const;  // "v1", "v2", "none"
  // Memory, Cpu or Processes.
  [[nodiscard]] virtual GroupController controller(Control which) const = 0;

  // Takes a group made ahead if one with the same limits is there, else makes one.
  virtual Expected<JailCgroup> make(std::uint32_t slot, const GroupLimits& limits) = 0;
  // Makes at most `most` groups ahead, for limits that were asked for before (or expect()ed); kGroupsAhead in all.
  // True when more are wanted: call again at the next quiet moment. Failures are kept back: making one in time of
  // need will meet and report the same.
  virtual bool refill(std::uint32_t most) = 0;
  virtual void expect(const GroupLimits& limits) = 0;  // these will be asked for (the defaults)

  // The mount points below which groups are made, written and removed, for confinement (Landlock) of our process.
  [[nodiscard]] virtual std::vector<std::string> paths() const = 0;

  // All jails of this engine.
  [[nodiscard]] virtual GroupUsage usage() const = 0;

  // Ids of the instances that have a parent group here, ours excepted.
  [[nodiscard]] virtual std::vector<std::string> other_instances() const = 0;
  // Lifts quotas, kills every process and removes every directory of a dead instance, whose lock the caller holds.
  // Bounded (2 s); Failure when something is left.
  virtual Expected<void> clean_stale(std::string_view instance) = 0;
};

}  // namespace mayfly
