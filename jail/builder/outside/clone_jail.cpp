#include "jail/builder/outside/clone_jail.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "jail/builder/inside/inside.h"
#include "jail/builder/inside/left_mounts.h"
#include "jail/builder/outside/id_maps.h"
#include "jail/builder/outside/tree_copy.h"

namespace mayfly {

namespace {

// No CLONE_NEWCGROUP: pid 1 makes its cgroup namespace once it is in its cgroup. No CLONE_NEWNET: the network namespace
// is always joined, made ahead or a moment ago, so that it has a name (nsids.h) before anyone in it can end.
constexpr std::uint64_t kNamespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;

// Copies of the prepared trees, ours until the clone.
struct TreeCopies {
  std::array<Fd, PreparedRow::kMostTrees> fds{};

  int make(const PreparedRow& row) {
    for (std::uint32_t i = 0; i < row.count; ++i) {
      fds[i] = copy_tree(row.trees[i]);
      if (!fds[i]) return errno;
    }
    return 0;
  }
};

int enter(Workshop& shop, StepClock& steps, Step step) {
  steps.enter(step);
  return shop.host.faults.at(step);
}

// The creator's effective uid owns the namespaces, and is who they are counted against (D13).
class AsOwner {
 public:
  AsOwner(const HostFacts& host, std::uint32_t slot) : active_(host.privilege == Privilege::Root) {
    if (active_ && ::seteuid(host.uid_base + kUidsPerSlot * slot) != 0) error_ = errno;
  }
  AsOwner(const AsOwner&) = delete;
  AsOwner& operator=(const AsOwner&) = delete;
  ~AsOwner() {
    // Going on under a jail's id would mix two jails' accounts.
    if (active_ && ::seteuid(0) != 0) ::_exit(1);
  }
  [[nodiscard]] int error() const { return error_; }

 private:
  bool active_;
  int error_ = 0;
};

void give_descriptors(Workshop& shop, const Order& order, const TreeCopies& trees, const RootPart& root, int ids_ready,
                      Inside& in) {
  in.gate = order.gate();
  in.stream = order.stream();
  in.payload = order.payload();
  in.ids_ready = ids_ready;
  in.supervisor = shop.supervisor;
  in.root = root.tree.get();
  in.ruleset = root.ruleset.get();
  in.leaves_mounts = shop.nsids.is_available() && shop.nsids.jails() < kFewJails;
  if (order.plan.cgroup == CgroupKind::V1) in.task_count = order.plan.cgroup_fds;
  for (std::uint32_t i = 0; i < in.task_count; ++i) in.tasks[i] = order.cgroup(i);
  for (std::uint32_t i = 0; i < in.row.count; ++i) in.trees[i] = trees.fds[i].get();
}

int clone_pid_one(Workshop& shop, const Order& order, Inside& in, Cloned& cloned) {
  int pidfd = -1;
  clone_args arguments{};
  arguments.flags = kNamespaces | CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  arguments.exit_signal = SIGCHLD;
  if (order.plan.cgroup == CgroupKind::V2 && !shop.host.faults.leaves_out(Layer::Cgroup)) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(order.cgroup(0));
  }
  const AsOwner owner(shop.host, order.plan.slot);
  if (owner.error() != 0) return owner.error();
  const long pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid < 0) return errno;
  if (pid == 0) live_as_pid_one(in);
  cloned.pid = static_cast<pid_t>(pid);
  cloned.pidfd = Fd(pidfd);
  return 0;
}

// Joins a network namespace for the time of the clone, and comes home again.
class Joined {
 public:
  Joined(int network, int home) : home_(network >= 0 ? home : -1) {
    if (network >= 0 && ::setns(network, CLONE_NEWNET) != 0) {
      error_ = errno;
      home_ = -1;
    }
  }
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;
  ~Joined() {
    // Staying would put the next jail into this one's network.
    if (home_ >= 0 && ::setns(home_, CLONE_NEWNET) != 0) ::_exit(1);
  }
  [[nodiscard]] int error() const { return error_; }

 private:
  int home_;
  int error_ = 0;
};

[[nodiscard]] bool ends_within(const Cloned& cloned, Milliseconds patience) {
  pollfd gone{cloned.pidfd.get(), POLLIN, 0};
  return ::poll(&gone, 1, static_cast<int>(patience.count())) == 1;
}

// Pid 1 enters its cgroups meanwhile, and waits for the byte before it touches its root.
int map_ids(Workshop& shop, const Order& order, StepClock& steps, const Cloned& cloned, const RootPart& root,
            const Inside& in, const Fd& say_ready) {
  int error = enter(shop, steps, Step::MapIds);
  if (error == 0) error = write_id_maps(shop.host, shop.host_proc, cloned.pid, order.plan.slot);
  if (error == 0) error = enter(shop, steps, Step::FitRoot);
  if (error == 0) error = fit_root(shop.host, order.plan, root, in.trees);
  if (error == 0 && ::write(say_ready.get(), "", 1) != 1) error = errno;
  return error;
}

// We are in the jail's namespace still, pid 1 is making its root. The gate waits for our answer.
int raise_network(Workshop& shop, StepClock& steps, const NetworkPart& part) {
  if (const int error = enter(shop, steps, Step::RaiseLoopback); error != 0) return error;
  return part.network && !part.is_furnished ? furnish_network(part, shop.host_proc) : 0;
}

int clone_and_map(Workshop& shop, const Order& order, StepClock& steps, const TreeCopies& trees, const RootPart& root,
                  Inside& in, Cloned& cloned) {
  if (const int error = enter(shop, steps, Step::Clone); error != 0) return error;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
  const Fd ids_ready(ends[0]), say_ready(ends[1]);
  give_descriptors(shop, order, trees, root, ids_ready.get(), in);
  if (const int error = clone_pid_one(shop, order, in, cloned); error != 0) return error;
  const int error = map_ids(shop, order, steps, cloned, root, in, say_ready);
  // Nobody can be mapped who is gone: what failed it has told at its gate, unless it was killed.
  if (error != 0 && ends_within(cloned, Milliseconds{0})) return 0;
  // Before the pipe is closed: pid 1 would take its end for a failure of its own.
  if (error != 0) destroy(cloned);
  return error;
}

// Each is for one jail alone: what was prepared for a plan that never came is not for this one.
Parts take_parts(Workshop& shop, const Plan& plan, Cloned& cloned) {
  Parts prepared = std::exchange(shop.prepared, Parts());
  if (plan.prepared != 0 && prepared.is_complete()) return prepared;
  cloned.parts_made_ahead = !shop.parts.is_empty();
  return cloned.parts_made_ahead ? shop.parts.take() : Parts();
}

int make_missing(Workshop& shop, StepClock& steps, Parts& parts) {
  int error = enter(shop, steps, Step::JoinNetwork);
  if (error == 0 && !parts.network.network && !shop.host.faults.leaves_out(Layer::Network))
    error = make_network_part(shop.network, shop.host_proc, shop.nsids, Furnish::Later, parts.network);
  if (error == 0) error = enter(shop, steps, Step::MakeRoot);
  if (error == 0 && !parts.root.tree) error = make_root_part(shop.host, parts.root);
  return error;
}

}  // namespace

void prepare(Workshop& shop) {
  shop.prepared = Parts();
  if (!shop.parts.is_empty()) return;
  if (make_parts(shop, Furnish::Later, shop.prepared) != 0) shop.prepared = Parts();
}

int make_parts(Workshop& shop, Furnish furnish, Parts& made) {
  if (const int error = make_root_part(shop.host, made.root); error != 0) return error;
  return make_network_part(shop.network, shop.host_proc, shop.nsids, furnish, made.network);
}

void destroy(const Cloned& cloned) {
  ::syscall(SYS_pidfd_send_signal, cloned.pidfd.get(), SIGKILL, nullptr, 0);
  (void)ends_within(cloned, kBuildLimit);  // the supervisor watches what is stuck
}

int clone_jail(Workshop& shop, const Order& order, StepClock& steps, Cloned& cloned) {
  Parts parts = take_parts(shop, order.plan, cloned);
  const bool weakened = shop.host.faults.leaves_out(Layer::Network);
  if (weakened) parts.network = NetworkPart();  // and nothing is furnished: we would be in the host's
  if (const int error = make_missing(shop, steps, parts); error != 0) return error;
  steps.enter(Step::JoinNetwork);
  const Joined joined(weakened ? shop.network_of_keeper : parts.network.network.get(), shop.network);
  if (joined.error() != 0) return joined.error();

  if (const int error = enter(shop, steps, Step::CopyTrees); error != 0) return error;
  Inside in(shop.host, order.plan);
  if (in.row.error != 0) return in.row.error;
  TreeCopies trees;
  if (const int error = trees.make(in.row); error != 0) return error;
  int error = clone_and_map(shop, order, steps, trees, parts.root, in, cloned);
  if (error == 0) error = raise_network(shop, steps, parts.network);
  if (error != 0 && cloned.pidfd) destroy(cloned);
  cloned.nsid = parts.network.nsid;
  if (error == 0) shop.nsids.belongs_to(parts.network.nsid, order.plan.slot);
  return error;
}

}  // namespace mayfly
