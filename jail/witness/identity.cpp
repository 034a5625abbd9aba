#include "jail/witness/identity.h"

#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace mayfly {

int become_relay(const RelayOrder& order) {
  if (order.rootless == 0) {
    const uid_t relay = order.relay_uid;
    if (::setgroups(0, nullptr) != 0) return errno;
    if (::setresgid(relay, relay, relay) != 0) return errno;
    if (::setresuid(order.init_uid, relay, relay) != 0) return errno;
  }
  constexpr rlimit kNoProcesses{0, 0};
  if (::setrlimit(RLIMIT_NPROC, &kNoProcesses) != 0) return errno;
  // A change of ids gives the process back what lock_down took (prctl(2), PR_SET_DUMPABLE).
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return errno;
  ::prctl(PR_SET_NAME, "mayfly-relay");
  return 0;
}

void keep_only(std::span<int> own) {
  std::sort(own.begin(), own.end());
  int first = 0;  // the lowest number that may still be open and is not ours
  for (const int fd : own) {
    if (fd < 0) continue;
    if (fd > first) ::close_range(static_cast<unsigned>(first), static_cast<unsigned>(fd) - 1, 0);
    first = std::max(first, fd + 1);
  }
  ::close_range(static_cast<unsigned>(first), ~0u, 0);
}

}  // namespace mayfly
