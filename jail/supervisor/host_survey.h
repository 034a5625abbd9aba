// What this host can give a jail, before anything runs: for AskHost, `mayfly doctor` and GET /api/containment.
// Each control that will be absent or weaker than it could be names the cause on this host and one command that fixes
// it. What is said here is an expectation; the controls of a jail are measured (measure.h), and doctor compares them.
// Owner: supervisor, at its start. A host on which no engine starts at all is jail/os/namespace_switches.h's.
#pragma once

#include <string>

#include "jail/supervisor/cgroup.h"
#include "jail/wire/lease.h"

namespace mayfly {

// Texts of the kernel that the survey judges; empty where a file does not exist. Tests hand in others.
struct HostTexts {
  std::string release;           // uname -r
  std::string mountinfo;         // of ourselves
  std::string security_modules;  // /sys/kernel/security/lsm: "capability,landlock,yama"
  static HostTexts read();
};

struct BuilderFacts {
  bool proc_available = false;
  std::uint32_t landlock_abi = 0;
};

Host survey_host(const HostTexts& texts, const CgroupHost& groups, const BuilderFacts& builder, bool root,
                 ControlSet required);

}  // namespace mayfly
