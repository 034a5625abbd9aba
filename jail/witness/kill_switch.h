// KillSwitch: how a relay ends its jail by itself, when the supervisor is gone or does not act. The CPU quota is lifted
// first (v1) or the whole cgroup killed (v2): at a tenth of a processor with 62 spinning processes the last one
// would otherwise die seconds later.
#pragma once

#include <string_view>

#include "jail/os/fd.h"

namespace mayfly {

class KillSwitch {
 public:
  KillSwitch() = default;
  // `quota` may be none; `text` is what is written to it, and must outlive the switch.
  KillSwitch(Fd pid_one, Fd quota, std::string_view text)
      : pid_one_(std::move(pid_one)), quota_(std::move(quota)), text_(text) {}

  // Kills pid 1, and with it everything in its pid namespace. 0 or errno (ESRCH: already dead; EBADF: not armed).
  [[nodiscard]] int pull() const;
  // Pid 1's pidfd: readable once it is dead, and with it everything inside. -1: not armed.
  [[nodiscard]] int pid_one() const { return pid_one_.get(); }

 private:
  Fd pid_one_;
  Fd quota_;
  std::string_view text_;
};

}  // namespace mayfly
