// StepClock: which step of building we are in, and how long each took. One value per jail; crosses the clone by copy.
#pragma once

#include <array>
#include <cstdint>

#include "jail/os/clock.h"
#include "jail/spec/step.h"

namespace mayfly {

class StepClock {
 public:
  // Ends the step before, if any.
  void enter(Step step) {
    const Microseconds now = monotonic_now();
    if (current_ != Step::None) spent_[index(current_)] += static_cast<std::uint32_t>((now - since_).count());
    current_ = step;
    since_ = now;
  }
  [[nodiscard]] Step current() const { return current_; }
  [[nodiscard]] std::uint32_t spent_us(Step step) const { return spent_[index(step)]; }
  [[nodiscard]] const std::array<std::uint32_t, kStepCount>& spent_us() const { return spent_; }

 private:
  static std::size_t index(Step step) { return static_cast<std::size_t>(step); }
  Step current_ = Step::None;
  Microseconds since_{};
  std::array<std::uint32_t, kStepCount> spent_{};
};

}  // namespace mayfly
