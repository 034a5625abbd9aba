// The recipe of pid 1: from the clone to the program.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "jail/builder/inside/descriptors.h"
#include "jail/builder/inside/identity.h"
#include "jail/builder/inside/init_loop.h"
#include "jail/builder/inside/inside.h"
#include "jail/builder/inside/proc_mount.h"
#include "jail/builder/inside/program.h"
#include "jail/builder/inside/root_tree.h"
#include "jail/builder/inside/seed.h"
#include "jail/builder/inside/streams.h"

namespace mayfly {

namespace {

// Signals stay blocked for good in pid 1; the program's process opens its own mask again. The builder ignores two
// signals, which an execve would hand on.
void quieten_signals() {
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::signal(SIGCHLD, SIG_DFL);
  ::signal(SIGPIPE, SIG_DFL);
}

// v1: every controller's tasks file takes "0" for the writer itself, which costs nothing; being written into
// cgroup.procs from outside costs 12 ms after a pause (performance.md).
void enter_cgroups(Inside& in) {
  for (std::uint32_t i = 0; i < in.task_count; ++i) {
    const auto this_one = static_cast<Layer>(static_cast<std::uint32_t>(Layer::Group0) + i);
    if (!in.leaves_out(Layer::Cgroup) && !in.leaves_out(this_one)) in.check(::write(in.tasks[i], "0", 1));
    ::close(in.tasks[i]);
  }
  // The root of a cgroup namespace is the cgroup of whoever makes it: made here, and not by the clone, no path of the
  // host's hierarchy shows in /proc/self/cgroup.
  in.check(::unshare(CLONE_NEWCGROUP));
}

int build_root(Inside& in, int& devpts) {
  in.enter(Step::PlaceTrees);
  place_root(in);
  place_trees(in);
  in.enter(Step::MountProc);
  const int proc = mount_proc(in);
  in.enter(Step::MountDevpts);
  devpts = mount_devpts(in);
  in.enter(Step::SealNamespaces);
  seal_namespaces(in, proc);
  in.enter(Step::PivotRoot);
  move_onto_root(in);
  return proc;
}

}  // namespace

void live_as_pid_one(Inside& in) {
  in.enter(Step::EnterCgroup);
  quieten_signals();
  keep_only_ours(in);
  enter_cgroups(in);
  in.enter(Step::AwaitIds);
  drop_bounding_set(in);
  wait_for_ids(in);
  in.enter(Step::BecomeInit);
  become_init(in);
  int devpts = -1;
  const bool proc_mounted = build_root(in, devpts) >= 0;
  if (has_seed(in)) {
    in.enter(Step::WriteFiles);
    plant_seed(in);
  }
  in.enter(Step::MakeStreams);
  ProgramOrder order{in, make_streams(in, devpts), {}, proc_mounted};
  gather_texts(in, order.texts);
  in.enter(Step::LockInit);
  drop_privileges(in);
  in.enter(Step::Fork);
  const pid_t program = start_program(order);
  close_inner(order.streams);
  for (const int number : {in.payload, in.ruleset})
    if (number >= 0) ::close(number);
  watch_program(in, program);
}

}  // namespace mayfly
