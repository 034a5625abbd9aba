#include "jail/builder/inside/landlock.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "jail/builder/landlock_rights.h"
#include "jail/builder/root_paths.h"
#include "jail/os/fd.h"

namespace mayfly {

namespace {

constexpr std::uint32_t kQuietBeforeExec = 1;  // ABI 7: LANDLOCK_RESTRICT_SELF_LOG_SAME_EXEC_OFF

}  // namespace

void confine_files(Inside& in) {
  if (in.ruleset < 0 || in.leaves_out(Layer::Landlock)) return;
  const Fd proc(::open("/proc", O_PATH | O_CLOEXEC));
  in.check(proc.get());
  in.check(landlock::allow(in.ruleset, in.host.landlock_abi, proc.get(), landlock::kRead));
  // Our own proof below would be a line in the audit log of every jail; what the program is denied is not logged.
  const std::uint32_t flags = in.host.landlock_abi >= 7 ? kQuietBeforeExec : 0;
  in.check(::syscall(SYS_landlock_restrict_self, in.ruleset, flags));
}

int prove_landlock() {
  const Fd canary(::open(kLandlockCanary, O_RDONLY | O_CLOEXEC));
  return canary ? 0 : errno;
}

}  // namespace mayfly
