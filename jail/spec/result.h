// Result: how a jail ended and what it used. Made once, by the supervisor, when the jail is closed.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "jail/spec/controls.h"
#include "jail/spec/ending.h"
#include "jail/spec/limits.h"
#include "jail/spec/step.h"

namespace mayfly {

// What the relay counted on one stream. Over what the program wrote, not what was kept or delivered.
struct StreamTotals {
  std::uint64_t bytes = 0;
  std::array<std::uint8_t, 32> sha256{};
  bool truncated = false;           // something after output_kept was not passed on
  std::optional<std::string> tail;  // the last kOutputTail bytes of what was cut away; only when truncated
};

// A number the kernel may not be able to tell: then `why` says so, and JSON has null.
template <typename T>
struct Measurement {
  std::optional<T> value;
  std::string why;
};

struct Metrics {
  Milliseconds queued{};
  Microseconds build{};
  Microseconds wall{};
  Measurement<Microseconds> cpu;
  Measurement<Bytes> memory_peak;
  Measurement<std::uint32_t> processes_peak;
  Microseconds closed{};                            // from the end of the program until closed
  std::vector<std::string> made_ahead;              // "network", "root", "cgroup", "relay"
  std::array<std::uint32_t, kStepCount> step_us{};  // time spent in each step of building
};

struct Result {
  std::string id;  // JailId text
  Ending ending = Ending::Failed;
  std::optional<int> exit_code;      // only for Exited
  std::optional<int> signal_number;  // only for Signalled
  std::string text;                  // for people: "ran for 1.0 s, the limit"
  Step failed_step = Step::None;     // only for Failed
  int failed_errno = 0;
  std::vector<LimitReached> limits_reached;
  bool output_incomplete = false;
  StreamTotals out, err;  // a terminal has only `out`
  Controls controls;
  Limits limits;
  std::vector<std::string> environment;
  std::vector<std::string> folders;  // of its profile, that it had: "seed", "readonly"
  std::string profile, language, label;
  Metrics metrics;
};

// "mayfly: ending=time-limit jail=j_...: ran for 1.0 s, the limit" without a newline; escaped, one line.
std::string reason_line(const Result& result);

}  // namespace mayfly
