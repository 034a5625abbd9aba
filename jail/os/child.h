// Child: start one of our programs by exec, with exactly the descriptors that it is given, and hold its pidfd.
// clone3(2) CLONE_PIDFD, execveat(2). The environment of the child is empty.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "jail/expected.h"
#include "jail/os/fd.h"

namespace mayfly {

// A descriptor of ours that the child gets under a fixed number (3, 4, ...). stdin is /dev/null, stdout and stderr
// are ours unless `fds` names 0, 1 or 2.
struct GivenFd {
  int ours = -1;
  int theirs = -1;
};

struct ChildProgram {
  std::string path;               // absolute
  std::vector<std::string> argv;  // argv[0] included
  std::vector<GivenFd> fds;
  uid_t uid = static_cast<uid_t>(-1);  // (uid_t)-1: stay as we are
  // The child waits before exec until the parent has called Child::go(): the parent can announce its pid first.
  bool wait_for_go = false;
};

class Child {
 public:
  static Expected<Child> start(const ChildProgram& program);

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const Fd& pidfd() const { return pidfd_; }
  Expected<void> go();                      // lets a waiting child exec
  Expected<void> signal(int number) const;  // pidfd_send_signal: never hits a recycled pid
  // Reaps it: its wait status, blocking. Once. waitid(P_PIDFD), never waitpid(-1).
  Expected<int> wait();

 private:
  Child(pid_t pid, Fd pidfd, Fd go) : pid_(pid), pidfd_(std::move(pidfd)), go_(std::move(go)) {}
  pid_t pid_ = 0;
  Fd pidfd_;
  Fd go_;
};

Expected<Fd> open_pidfd(pid_t pid);
Expected<void> signal_pidfd(const Fd& pidfd, int number);
bool has_ended(const Fd& pidfd);  // poll without waiting

}  // namespace mayfly
