// Policy: what the operator allows. resolve() holds a Request against it. Made from the configuration.
#pragma once

#include <map>
#include <string>

#include "jail/spec/controls.h"
#include "jail/spec/limits.h"
#include "jail/spec/profile.h"

namespace mayfly {

struct HostLimits {
  Bytes memory;                 // of all jails together; 0 = 80 % of RAM
  std::uint32_t processes = 0;  // of all jails together; 0 = 16384
  MilliCpus cpus;               // of all jails together; 0 = every processor
  std::uint32_t api_runs = 0;   // live API runs; 0 = 4 x processors
  std::uint32_t jails = 0;      // live jails of every kind; 0 = kSlotsPerInstance
};

struct PrincipalLimits {
  std::uint32_t live = kLivePerPrincipal;
  std::uint32_t queued = kQueuePerPrincipal;
  std::uint32_t requests_per_second = kRequestsPerSecond;
  std::uint32_t burst = kRequestBurst;
  std::uint32_t cpu_seconds_per_hour = kCpuSecondsPerHour;
};

struct Policy {
  LimitRange api = kApiLimits;
  LimitRange exec = kExecLimits;
  LimitRange shell = kShellLimits;
  LimitRange run = kExecLimits;  // `mayfly run`: exec defaults; the keeper raises the ceilings to the host's
  HostLimits host;
  PrincipalLimits principals;
  ControlSet require = default_requirements();
  std::uint32_t queue_total = kQueueTotal;
  bool made_ahead = true;  // empty, never used, single-use parts (performance.md)
  Catalogue catalogue = Catalogue::built_in();
  std::uint32_t processors = 1;

  [[nodiscard]] const LimitRange& range(Door door) const {
    switch (door) {
      case Door::Api:
        return api;
      case Door::Exec:
        return exec;
      case Door::Shell:
        return shell;
      case Door::Run:
        return run;
    }
    return exec;
  }
};

}  // namespace mayfly
