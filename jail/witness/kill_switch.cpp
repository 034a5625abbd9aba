#include "jail/witness/kill_switch.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace mayfly {

int KillSwitch::pull() const {
  if (!pid_one_) return EBADF;
  // A quota that cannot be lifted (its cgroup is gone already) must not keep us from the kill.
  const ssize_t lifted = quota_ ? ::write(quota_.get(), text_.data(), text_.size()) : 0;
  static_cast<void>(lifted);
  return ::syscall(SYS_pidfd_send_signal, pid_one_.get(), SIGKILL, nullptr, 0) == 0 ? 0 : errno;
}

}  // namespace mayfly
