// The exit status of `mayfly run` (design section 9): the program's own code; 128+n after signal n; 124 time,
// 137 memory, 126/127 not executable / not found, 125 everything that is not the program's own doing.
#pragma once

#include "jail/spec/result.h"

namespace mayfly {

inline constexpr int kOwnFailure = 125;

[[nodiscard]] int exit_status(const Result& result);

}  // namespace mayfly
