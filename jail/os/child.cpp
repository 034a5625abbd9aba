#include "jail/os/child.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>

namespace mayfly {

namespace {

constexpr int kParked = 200;  // descriptors are parked from here on while their final numbers are cleared
constexpr std::size_t kMostGiven = 32;

struct Prepared {
  const char* path;
  char* const* argv;
  const std::vector<GivenFd>& fds;
  uid_t uid;
  int go;      // read end; -1: do not wait
  int report;  // write end, CLOEXEC: errno of what failed; closed by a successful exec
  int null;
};

[[noreturn]] void give_up(int report, int error) {
  if (::write(report, &error, sizeof error) < 0) ::_exit(126);
  ::_exit(127);
}

void reset_signals() {
  for (int number = 1; number < 65; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// Runs in the child, between fork and exec: only async-signal-safe calls.
[[noreturn]] void become(const Prepared& what) {
  reset_signals();
  char byte = 0;
  if (what.go >= 0 && ::read(what.go, &byte, 1) != 1) ::_exit(125);  // the parent gave up
  std::array<int, kMostGiven> parked{};
  for (std::size_t i = 0; i < what.fds.size(); ++i) {
    parked[i] = ::fcntl(what.fds[i].ours, F_DUPFD_CLOEXEC, kParked);
    if (parked[i] < 0) give_up(what.report, errno);
  }
  const int report = ::fcntl(what.report, F_DUPFD_CLOEXEC, kParked);
  const int null = ::fcntl(what.null, F_DUPFD_CLOEXEC, kParked);
  if (report < 0 || null < 0) give_up(what.report, errno);
  if (::dup2(null, 0) < 0) give_up(report, errno);
  for (std::size_t i = 0; i < what.fds.size(); ++i)
    if (::dup2(parked[i], what.fds[i].theirs) < 0) give_up(report, errno);
  if (what.uid != static_cast<uid_t>(-1) &&
      (::setgroups(0, nullptr) != 0 || ::setresgid(what.uid, what.uid, what.uid) != 0 ||
       ::setresuid(what.uid, what.uid, what.uid) != 0))
    give_up(report, errno);
  // Everything else that is open is CLOEXEC already; mark the rest so that a descriptor of a library cannot slip by.
  int first_free = 3;
  for (const GivenFd& given : what.fds) first_free = std::max(first_free, given.theirs + 1);
  ::syscall(SYS_close_range, first_free, ~0u, 4 /* CLOSE_RANGE_CLOEXEC, since Linux 5.11 */);
  char* const empty[] = {nullptr};
  ::execve(what.path, what.argv, empty);
  give_up(report, errno);
}

Expected<std::pair<Fd, Fd>> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failure("make pipe", errno);
  return std::pair<Fd, Fd>(Fd(ends[0]), Fd(ends[1]));
}

}  // namespace

Expected<Child> Child::start(const ChildProgram& program) {
  if (program.fds.size() > kMostGiven) return failure("start program", EINVAL, program.path, "too many descriptors");
  auto [report_read, report_write] = TRY(make_pipe());
  auto [go_read, go_write] = TRY(make_pipe());
  Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return failure("open", errno, "/dev/null");
  std::vector<char*> argv;
  argv.reserve(program.argv.size() + 1);
  for (const std::string& word : program.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const Prepared prepared{
      program.path.c_str(), argv.data(), program.fds, program.uid, program.wait_for_go ? go_read.get() : -1,
      report_write.get(),   null.get()};
  int pidfd = -1;
  clone_args args{};
  args.flags = CLONE_PIDFD;
  args.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  args.exit_signal = SIGCHLD;
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone3, &args, sizeof args));
  if (pid < 0) return failure("start program", errno, program.path);
  if (pid == 0) {
    go_write.reset();
    become(prepared);
  }
  Child child(pid, Fd(pidfd), program.wait_for_go ? std::move(go_write) : Fd());
  report_write.reset();
  if (program.wait_for_go) return child;  // its exec is judged by whoever waits for it
  int error = 0;
  ssize_t count = 0;
  do count = ::read(report_read.get(), &error, sizeof error);
  while (count < 0 && errno == EINTR);
  if (count == 0) return child;
  if (auto reaped = child.wait(); !reaped) return tl::make_unexpected(reaped.error());
  return failure("execute", error, program.path);
}

Expected<void> Child::go() {
  const char byte = 1;
  if (go_ && ::write(go_.get(), &byte, 1) != 1) return failure("let child go", errno);
  go_.reset();
  return {};
}

Expected<void> Child::signal(int number) const { return signal_pidfd(pidfd_, number); }

Expected<int> Child::wait() {
  siginfo_t info{};
  int done = 0;
  // P_PIDFD exists since Linux 5.4; only this child is reaped, whatever else has ended.
  do done = ::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED);
  while (done != 0 && errno == EINTR);
  if (done != 0) return failure("wait for child", errno);
  return info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) : W_EXITCODE(0, info.si_status);
}

Expected<Fd> open_pidfd(pid_t pid) {
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!fd) return failure("open pidfd", errno, std::to_string(pid));
  return fd;
}

Expected<void> signal_pidfd(const Fd& pidfd, int number) {
  if (::syscall(SYS_pidfd_send_signal, pidfd.get(), number, nullptr, 0) != 0) return failure("send signal", errno);
  return {};
}

bool has_ended(const Fd& pidfd) {
  pollfd entry{pidfd.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0;
}

}  // namespace mayfly
