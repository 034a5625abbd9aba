// Refusal: why a request is not taken, or not taken any further. What wire/lease.h calls Refused, without the run.
#pragma once

#include <cstdint>
#include <string>

#include "jail/wire/lease.h"

namespace mayfly {

struct Refusal {
  RefusalKind kind = RefusalKind::Quota;
  std::string field;
  std::string text;
  std::uint64_t retry_after_ms = 0;  // 0: do not come back with the same
};

inline Refused refused(RunNumber run, std::string id, Refusal why) {
  return Refused{run, std::move(id), why.kind, std::move(why.field), std::move(why.text), why.retry_after_ms};
}

}  // namespace mayfly
