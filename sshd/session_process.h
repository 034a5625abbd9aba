// SessionProcess: one mayfly-sshd-session, exec'd for one connection, held by its pidfd. What it serves is handed to it
// when it has been started, or later (spare_sessions.h).
// posix_spawn(3) shares memory until the exec, so that a listener with hundreds of sessions starts the next one as
// fast as the first. The child gets exactly the descriptors of wire/startup.h and an empty environment.
#pragma once

#include <sys/types.h>

#include <string>

#include "jail/expected.h"
#include "jail/os/fd.h"
#include "sshd/handover.h"

namespace mayfly {

class SessionProcess {
 public:
  // kKeeperPidfd, kSessionHostKey, kSessionConfig and kSessionListenerPidfd are open in this process under those very
  // numbers, and kSessionHandover is taken.
  static Expected<SessionProcess> start(const std::string& program);

  // Once. A failure leaves `own` as it was; EPIPE: this session has ended before it had anything to serve.
  Expected<void> serve(SessionDescriptors& own);

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const Fd& pidfd() const { return pidfd_; }
  Expected<void> abandon();  // ends it, whatever it does, and reaps it
  Expected<int> reap();      // once, when pidfd() is readable (it waits otherwise): the status as of waitpid(2)

 private:
  SessionProcess(pid_t pid, Fd pidfd, Fd handover)
      : pid_(pid), pidfd_(std::move(pidfd)), handover_(std::move(handover)) {}
  pid_t pid_;
  Fd pidfd_;
  Fd handover_;  // until it was used
};

}  // namespace mayfly
