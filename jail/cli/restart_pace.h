// RestartPace: how soon a process that died may be started again. At once after a long life; after a short one it
// waits, twice as long each time, so that one that dies at its start costs next to nothing and still comes back.
#pragma once

#include <algorithm>

#include "jail/spec/units.h"

namespace mayfly {

class RestartPace {
 public:
  static constexpr Milliseconds kFirst{50}, kMost{30'000};
  static constexpr Milliseconds kHealthy{60'000};  // who lived this long starts with a clean slate

  void started(Microseconds now) { started_ = now; }
  // After a death at `now`: how long to wait.
  Milliseconds delay(Microseconds now) {
    if (now - started_ >= kHealthy) next_ = Milliseconds{0};
    const Milliseconds wait = next_;
    next_ = std::min(kMost, std::max(kFirst, next_ * 2));
    return wait;
  }

 private:
  Microseconds started_{};
  Milliseconds next_{0};
};

}  // namespace mayfly
