#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "jail/builder/inside/inside.h"

namespace mayfly {

void report_and_exit(Inside& in, Step step, int error) {
  GateMessage message;
  message.says = GateSays::StepFailed;
  message.step = static_cast<std::uint32_t>(step);
  message.error = error;
  message.file = in.file;
  message.step_us = in.steps.spent_us();
  in.has_reported = true;
  ::send(in.gate, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);  // nobody is left to tell if this fails
  ::_exit(1);
}

void Inside::enter(Step step) {
  steps.enter(step);
  if (const int error = host.faults.at(step); error != 0) report_and_exit(*this, step, error);
}

void Inside::check(long result) {
  if (result < 0) report_and_exit(*this, steps.current(), errno);
}

void Inside::fail(int error) { report_and_exit(*this, steps.current(), error); }

}  // namespace mayfly
