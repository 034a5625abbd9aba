// Clocks. Limits use CLOCK_MONOTONIC (a wall clock that jumps changes nothing), records use CLOCK_REALTIME.
#pragma once

#include <ctime>

#include "jail/spec/units.h"

namespace mayfly {

// Microseconds since an arbitrary start; never goes back.
inline Microseconds monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return Microseconds{static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000};
}

}  // namespace mayfly
