// From a step that failed inside (GateSays::StepFailed) to the end of its jail. Mostly that is our own failure. But
// what a request and its profile's seed put into the home directory may not go in together, or not fit, which shows
// only when it is written (step WriteFiles): that is refused, as anything else that a peer asked for and cannot have,
// and the words say what to do. Pure.
#pragma once

#include "jail/spec/spec.h"
#include "jail/supervisor/result_maker.h"
#include "jail/wire/gate.h"

namespace mayfly {

Decision after_failed_step(const Spec& spec, const GateMessage& message);

}  // namespace mayfly
