// The three seccomp filters of a jail, compiled once when the builder starts and kept as arrays of instructions.
//   builder  deny list, loaded by the builder itself once; every jail inherits it
//   program  allowlist (unknown call ENOSYS, known-dangerous EPERM, foreign architecture killed), the last layer before
//            the gate, loaded by the program's own process: nothing may be added to it afterwards, so it is not pid 1's
//   init     allowlist of what pid 1 needs after its vfork has returned; loaded then
// Loading needs no_new_privs, or CAP_SYS_ADMIN in the user namespace:
//   if (int error = load_filter(filters.program.data(), filters.program.size())) report_and_exit(Step::Filter, error);
// Proof from inside: syscall(kReservedCall) fails with errno == kFilterBuildErrno (build_id.h).
// Fails only when a table is wrong, which tests/filter rules out.
#pragma once

#include <vector>

#include "jail/builder/filter/build_id.h"
#include "jail/expected.h"
#include "jail/os/syscall_filter.h"

namespace mayfly {

struct JailFilters {
  std::vector<sock_filter> builder;
  std::vector<sock_filter> program;
  std::vector<sock_filter> init;
};

Expected<JailFilters> compile_jail_filters();

// After the clone: no allocation. 0 or an errno.
inline int load_filter(const std::vector<sock_filter>& filter) {
  return load_filter(filter.data(), static_cast<unsigned short>(filter.size()));
}

}  // namespace mayfly
