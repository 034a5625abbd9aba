#include "jail/builder/inside/program.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "jail/builder/inside/execute.h"
#include "jail/builder/inside/files.h"
#include "jail/builder/inside/identity.h"
#include "jail/builder/inside/landlock.h"
#include "jail/builder/inside/limits.h"

namespace mayfly {

namespace {

void begin_session(ProgramOrder& order) {
  Inside& in = order.in;
  in.check(::setsid());
  if (in.plan.terminal != 0) in.check(::ioctl(order.streams.inner[0], TIOCSCTTY, 0));
  for (int number = 0; number < 3; ++number)  // dup2 clears close-on-exec
    in.check(::dup2(order.streams.inner[static_cast<std::size_t>(number)], number));
  sigset_t none;
  ::sigemptyset(&none);
  in.check(::sigprocmask(SIG_SETMASK, &none, nullptr));
  ::umask(022);
}

// Everything that takes a capability is done, and there is none left: namespaces, mounts and groups stay as they are.
// The supervisor measures them while we go on.
void tell_placed(ProgramOrder& order) {
  GateMessage message;
  message.says = GateSays::Placed;
  message.proc_mounted = order.proc_mounted ? 1 : 0;
  message.seeded = order.in.is_seeded ? 1 : 0;
  order.in.check(::send(order.in.gate, &message, sizeof message, MSG_NOSIGNAL));
}

void load_and_prove_filter(Inside& in) {
  if (in.leaves_out(Layer::Filter)) return;
  if (const int error = load_filter(in.host.filters.program); error != 0) in.fail(error);
  if (::syscall(kReservedCall) >= 0 || errno != kFilterBuildErrno) in.fail(ENOSYS);
}

void tell_at_gate(ProgramOrder& order) {
  Inside& in = order.in;
  GateMessage message;
  message.says = GateSays::AtGate;
  message.landlock_errno = prove_landlock();
  message.filter_errno = ::syscall(kReservedCall) < 0 ? errno : 0;
  message.environment_count = order.texts.environment_count;
  message.environment_hash = order.texts.environment_hash;
  message.step_us = in.steps.spent_us();
  in.check(::send(in.gate, &message, sizeof message, MSG_NOSIGNAL));
}

void wait_for_open(Inside& in) {
  pollfd waited[2] = {{in.gate, POLLIN, 0}, {in.supervisor, POLLIN, 0}};
  int ready = -1;
  do ready = ::poll(waited, 2, static_cast<int>(kBuildLimit.count()));
  while (ready < 0 && errno == EINTR);
  in.check(ready);
  if (ready == 0) in.fail(ETIMEDOUT);
  if (waited[1].revents != 0) in.fail(EOWNERDEAD);
  GateCommand command;
  const ssize_t count = ::recv(in.gate, &command, sizeof command, 0);
  in.check(count);
  if (count == 0) in.fail(EPIPE);  // the supervisor has judged otherwise
  if (count != sizeof command || command.order != GateOrder::Open) in.fail(EPROTO);
}

// sched(7): a process of the batch policy takes no processor from another when it wakes. Pid 1 wakes when the program
// has begun, on the same processor, and has nothing to do then that could not wait. Told by us, who have the same ids
// still: it sleeps until then, and we do not inherit it.
void let_pid_one_give_way() {
  constexpr pid_t kPidOne = 1;
  const sched_param none{};
  ::sched_setscheduler(kPidOne, SCHED_BATCH, &none);
}

int live_as_program(void* argument) {
  auto& order = *static_cast<ProgramOrder*>(argument);
  Inside& in = order.in;
  tell_placed(order);
  in.enter(Step::NewSession);
  let_pid_one_give_way();
  use_all_processors(in);
  begin_session(order);
  in.enter(Step::WriteFiles);
  write_files(in);
  in.enter(Step::SetLimits);
  set_limits(in);
  in.enter(Step::BecomeRun);
  become_run(in);
  in.enter(Step::Landlock);
  confine_files(in);
  in.enter(Step::Filter);
  load_and_prove_filter(in);
  in.enter(Step::Gate);
  tell_at_gate(order);
  wait_for_open(in);
  in.enter(Step::Execute);
  // Not earlier: rootless, the supervisor could not have looked at a process that is not dumpable. The memory is pid
  // 1's, which stays so; execve gives the program its own.
  ::prctl(PR_SET_DUMPABLE, 0);
  in.fail(execute(order.texts));
}

}  // namespace

pid_t start_program(ProgramOrder& order) {
  alignas(16) static char stack[64 << 10];
  Inside& in = order.in;
  stay_on_this_processor();
  const pid_t child = ::clone(live_as_program, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &order);
  // The child's last step is the shared clock's; ours is what failed when there is no child.
  if (child < 0) report_and_exit(in, Step::Fork, errno);
  if (in.has_reported) ::_exit(1);
  use_all_processors(in);
  return child;
}

}  // namespace mayfly
