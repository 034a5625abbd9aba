// SessionProcess: one mayfly-sshd-session, exec'd for one connection, held by its pidfd.
// posix_spawn(3) shares memory until the exec, so that a listener with hundreds of sessions starts the next one as
// fast as the first. The child gets exactly the descriptors of wire/startup.h and an empty environment.
#pragma once

#include <sys/types.h>

#include <string>

#include "jail/expected.h"
#include "jail/os/fd.h"

namespace mayfly {

// What one session has for itself; closed in this process once the child has been started.
struct SessionDescriptors {
  Fd connection;
  Fd lease;
  Fd report;  // the end that is written
};

class SessionProcess {
 public:
  // kKeeperPidfd, kSessionHostKey, kSessionConfig and kSessionListenerPidfd are open in this process under those very
  // numbers, and none of `own` has a number below them or kSessionReport's.
  // A failure leaves `own` as it was.
  static Expected<SessionProcess> start(const std::string& program, SessionDescriptors& own);

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const Fd& pidfd() const { return pidfd_; }
  Expected<int> reap();  // once, when pidfd() is readable (it waits otherwise): the status as of waitpid(2)

 private:
  SessionProcess(pid_t pid, Fd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  pid_t pid_;
  Fd pidfd_;
};

}  // namespace mayfly
