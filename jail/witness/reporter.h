// Reporter: what a relay says to the supervisor. Nothing is lost when the supervisor does not read for a while, and
// nothing waits for it either: a stopped supervisor must not stop the relay's clock.
#pragma once

#include <array>
#include <cstddef>

#include "jail/os/fd.h"
#include "jail/wire/relay.h"

namespace mayfly {

class Reporter {
 public:
  // `report` is the caller's memory: its totals, `incomplete` and `in_bytes` go out with whatever is said next.
  Reporter(const Fd& control, RelayReport& report) : control_(control.get()), report_(report) {}

  // `text` is a literal.
  void say(RelaySays says, int error = 0, const char* text = "");
  // Sends what could not be sent before, in order.
  void flush();
  [[nodiscard]] bool pending() const { return count_ > 0; }

 private:
  [[nodiscard]] int send_report() const;

  struct Said {
    RelaySays says = RelaySays::Broken;
    int error = 0;
    const char* text = "";
  };
  int control_;
  RelayReport& report_;
  std::array<Said, 12> said_{};  // each kind is said once, Broken a few times
  std::size_t count_ = 0;
};

}  // namespace mayfly
