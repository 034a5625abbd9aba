#include "jail/supervisor/host_side.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>

#include "jail/os/child.h"
#include "jail/supervisor/host_survey.h"
#include "jail/supervisor/measure.h"

namespace mayfly {

namespace {

Expected<std::unique_ptr<CgroupHost>> open_groups(const SupervisorConfig& config) {
  if (!config.use_cgroups) return CgroupHost::none("control groups are switched off by --no-cgroups");
  return CgroupHost::open({config.instance, config.policy.host, config.policy.made_ahead},
                          TRY(CgroupSight::of_this_process()));
}

HostSize size_of_host() {
  HostSize size;
  struct sysinfo info {};
  if (::sysinfo(&info) == 0) size.memory.count = std::uint64_t{info.totalram} * info.mem_unit;
  size.processors = static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  return size;
}

GateFacts facts_of(const AtTheGate& gate) {
  return {gate.program, gate.slot, gate.proof, gate.spec, gate.group, RelayState::Attached, gate.builder};
}

}  // namespace

Expected<HostSide> make_host_side(const SupervisorConfig& config) {
  HostSide side;
  side.groups = TRY(open_groups(config));
  side.size = size_of_host();
  if (!config.private_engine) side.operators = OperatorGroups::of_this_host();
  const ControlMeasurer measurer = TRY(ControlMeasurer::make({config.uid_base, config.rootless}));
  side.measure.placed = [measurer](const AtTheGate& gate) { return measurer.measure_placed(facts_of(gate)); };
  side.measure.at_gate = [measurer](const AtTheGate& gate, const Controls& placed) {
    return measurer.measure_at_gate(facts_of(gate), placed);
  };
  side.survey = [texts = HostTexts::read(), groups = side.groups.get(), root = !config.rootless,
                 required = config.policy.require](const BuilderReply& builder) {
    return survey_host(texts, *groups, BuilderFacts{builder.proc_available != 0, builder.landlock_abi}, root, required);
  };
  side.open_process = open_pidfd;
  return side;
}

}  // namespace mayfly
