#include "jail/cli/exit_status.h"

#include <cerrno>

namespace mayfly {

int exit_status(const Result& result) {
  const bool own_end = result.ending == Ending::Exited || result.ending == Ending::Signalled;
  if (own_end && result.output_incomplete) return kOwnFailure;  // bytes are missing: never a success
  if (result.ending == Ending::Exited) return result.exit_code.value_or(kOwnFailure);
  if (result.ending == Ending::Signalled) return result.signal_number ? 128 + *result.signal_number : kOwnFailure;
  if (result.ending == Ending::Failed && result.failed_step == Step::Execute) {
    // As a POSIX shell tells them apart (XCU 2.8.2).
    return result.failed_errno == ENOENT || result.failed_errno == ENOTDIR ? 127 : 126;
  }
  return reserved_exit_status(result.ending).value_or(kOwnFailure);
}

}  // namespace mayfly
