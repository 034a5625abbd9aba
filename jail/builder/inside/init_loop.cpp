#include "jail/builder/inside/init_loop.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "jail/builder/inside/left_mounts.h"

namespace mayfly {

namespace {

// The program's filter is not pid 1's, whose own is narrower. Loading that takes as long as a short program runs, and
// would delay word of its end: it is loaded once a program has run this long. An interpreter that prints a line is over
// by then, also on a slow machine.
constexpr Milliseconds kBeforeNarrowing = 50_ms;
constexpr int kReapedAtOnce = 256;  // a flood of orphans must not keep us from the supervisor

class Watch {
 public:
  Watch(Inside& in, pid_t program, int children)
      : in_(in),
        program_(program),
        children_(children),
        mounts_(in),
        narrow_at_(monotonic_now() + kBeforeNarrowing),
        deadline_(monotonic_now() + Milliseconds{static_cast<std::int64_t>(in.plan.wall_ms)} + kWallBackup) {}

  // Until the program has ended; its wait status.
  int wait() {
    while (!ended_) {
      pollfd waited[3] = {{in_.supervisor, POLLIN, 0}, {in_.gate, POLLIN, 0}, {children_, POLLIN, 0}};
      const int ready = ::poll(waited, 3, milliseconds_until(is_narrow_ ? deadline_ : narrow_at_));
      if (ready < 0 && errno != EINTR) ::_exit(1);
      if (!is_narrow_ && monotonic_now() >= narrow_at_) narrow();
      // Over the wall limit, and nobody has ended us. Asked in every turn: the program may keep us busy with signals.
      if (milliseconds_until(deadline_) == 0) ::_exit(1);
      if (ready <= 0) continue;
      if (waited[0].revents != 0) ::_exit(1);  // no jail outlives its supervisor
      if (waited[2].revents != 0) reap();
      if (waited[1].revents != 0 && !ended_) obey();
    }
    return status_;
  }

 private:
  [[nodiscard]] static int milliseconds_until(Microseconds when) {
    const auto left = std::chrono::ceil<Milliseconds>(when - monotonic_now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
  }

  void narrow() {
    is_narrow_ = true;
    mounts_.take_back();
    const sched_param none{};
    ::sched_setscheduler(0, SCHED_OTHER, &none);  // the program's process has made us give way until now
    if (!in_.leaves_out(Layer::Filter) && load_filter(in_.host.filters.init) != 0) ::_exit(1);
  }

  void reap() {
    signalfd_siginfo ignored[8];
    (void)!::read(children_, ignored, sizeof ignored);
    if (take(program_)) return;
    for (int i = 0; i < kReapedAtOnce; ++i)
      if (!take(-1) || ended_) return;
    ::kill(::getpid(), SIGCHLD);  // there may be more: look again in the next turn
  }

  bool take(pid_t which) {
    int status = 0;
    const pid_t reaped = ::waitpid(which, &status, WNOHANG);
    if (reaped == program_) {
      status_ = status;
      ended_ = true;
    }
    return reaped > 0;
  }

  void obey() {
    GateCommand command;
    const ssize_t count = ::recv(in_.gate, &command, sizeof command, MSG_DONTWAIT);
    if (count == 0) ::_exit(1);  // the supervisor has let go of this jail
    if (count != sizeof command || command.order != GateOrder::Signal) return;
    send_signal(command.signal_number);
  }

  // As root the program has another uid than we; our saved uid is the program's, which is all that kill(2) asks for.
  void send_signal(int number) const {
    const bool other_id = in_.host.privilege == Privilege::Root;
    constexpr auto kKeep = static_cast<uid_t>(-1);
    if (other_id && ::setresuid(kKeep, kInsideRunUid, kKeep) != 0) return;
    if (::kill(-program_, number) != 0) ::kill(program_, number);
    if (other_id && ::setresuid(kKeep, kInsideInitUid, kKeep) != 0) ::_exit(1);
  }

  Inside& in_;
  pid_t program_;
  int children_;
  LeftMounts mounts_;
  Microseconds narrow_at_;
  Microseconds deadline_;
  int status_ = 0;
  bool ended_ = false;
  bool is_narrow_ = false;
};

int hear_of_children() {
  sigset_t children;
  ::sigemptyset(&children);
  ::sigaddset(&children, SIGCHLD);  // blocked since our first instruction: nothing was missed
  return ::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
}

void tell_ended(Inside& in, int status) {
  GateMessage message;
  message.says = GateSays::Ended;
  message.wait_status = status;
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto microseconds = [](const timeval& time) {
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000u + static_cast<std::uint64_t>(time.tv_usec);
  };
  // The supervisor cannot look at a root that belongs to a process it may not trace (rootless).
  struct statfs root {};
  if (::statfs("/", &root) == 0) {
    message.disk_full = root.f_blocks != 0 && root.f_bfree == 0 ? 1 : 0;
    message.inodes_full = root.f_files != 0 && root.f_ffree == 0 ? 1 : 0;
  }
  message.cpu_us = microseconds(used.ru_utime) + microseconds(used.ru_stime);
  if (::send(in.gate, &message, sizeof message, MSG_NOSIGNAL) != sizeof message) ::_exit(1);
}

}  // namespace

void watch_program(Inside& in, pid_t program) {
  const int children = hear_of_children();
  if (children < 0) ::_exit(1);
  Watch watch(in, program, children);
  tell_ended(in, watch.wait());
  ::_exit(0);  // at once: whatever the program has left running dies with us, while the supervisor hears of its end
}

}  // namespace mayfly
