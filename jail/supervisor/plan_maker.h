// make_plan(): Spec -> Plan, the fixed struct for the builder. Pure. Fails when something does not fit the struct
// (an argv or environment of our own making that is too long) or lies outside the payload.
#pragma once

#include "jail/expected.h"
#include "jail/spec/spec.h"
#include "jail/wire/plan.h"

namespace mayfly {

struct PlanPlace {
  std::uint32_t slot = 0;
  std::uint32_t bind_row = 0;
  CgroupKind cgroup = CgroupKind::None;
  std::size_t cgroup_fds = 0;
  std::uint64_t payload_bytes = 0;  // 0: none
};

// Everything that Spec::argv, Spec::files and so on may point to, added up (jail/spec/limits.h).
inline constexpr Bytes kMaxPayload{kMaxCode.count + kMaxFiles.count + (kMaxArguments + 1) * kMaxCommand.count};
static_assert(kMaxPayload.count < UINT32_MAX, "a plan says offsets in 32 bits");

// `into` is new.
Expected<void> make_plan(const Spec& spec, const PlanPlace& place, Plan& into);

}  // namespace mayfly
