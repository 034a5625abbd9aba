// What a jail needs of the supervisor around it, passed by reference and outliving every jail.
#pragma once

#include <sys/types.h>

#include <functional>

#include "jail/os/event_loop.h"
#include "jail/spec/result.h"
#include "jail/spec/spec.h"
#include "jail/supervisor/builder_link.h"
#include "jail/supervisor/cgroup.h"
#include "jail/supervisor/result_maker.h"
#include "jail/supervisor/witness_link.h"
#include "jail/wire/gate.h"

namespace mayfly {

class Jail;

// A program's process that is placed, or waits at its gate.
struct AtTheGate {
  pid_t program = 0;
  std::uint32_t slot = 0;
  const GateMessage& proof;
  const Spec& spec;
  const JailCgroup& group;
  const BuilderReply& builder;
};
// pidfd_open(2), or what a test puts in its place.
using ProcessOpener = std::function<Expected<Fd>(pid_t)>;
// Its controls, measured from outside, in the two halves of measure.h. A Failure: what was asked for and what is there
// disagree.
struct Measurer {
  std::function<Expected<Controls>(const AtTheGate&)> placed;
  std::function<Expected<Controls>(const AtTheGate&, const Controls& placed)> at_gate;
};

// What a jail tells its owner. None of them may destroy the jail before the call has returned.
class JailEvents {
 public:
  virtual ~JailEvents() = default;
  virtual void jail_built(const Jail& jail) = 0;    // its gate opens; once
  virtual void jail_running(const Jail& jail) = 0;  // worth telling: not of a jail that has ended at once
  virtual void jail_result(Jail& jail, const Result& result, const Decision& decision) = 0;  // closed; once
  virtual void jail_left(Jail& jail) = 0;      // after the result: every byte is delivered, or never will be; once
  virtual void jail_released(Jail& jail) = 0;  // after the result: nothing of it is left in the kernel; once
  virtual void jail_leaked(Jail& jail) = 0;    // not released within kReleaseLimit; jail_released may still come
};

struct Surroundings {
  EventLoop& loop;
  BuilderLink& builder;
  WitnessLink& witness;
  CgroupHost& groups;
  Measurer measure;
  JailEvents& events;
  std::uint32_t uid_base = 0;
  bool rootless = false;
  bool make_ahead = false;
  ProcessOpener open_process;
};

}  // namespace mayfly
