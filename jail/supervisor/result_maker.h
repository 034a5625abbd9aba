// From what is known at the end of a jail to its Result: which ending it is, the text for people, limits reached.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jail/spec/result.h"
#include "jail/spec/spec.h"
#include "jail/supervisor/refusal.h"
#include "jail/wire/relay.h"

namespace mayfly {

// Why a jail ends, as first decided. Later reasons do not change it, with the exceptions of final_decision().
struct Decision {
  Ending ending = Ending::Failed;
  std::string text;                  // "" = the usual words for this ending
  Step step = Step::None;            // Failed
  int error = 0;                     // Failed
  std::optional<int> wait_status;    // Exited, Signalled
  std::optional<Refusal> refusal{};  // Refused
};

Decision ended_as(Ending ending);  // those that need no more words
Decision from_wait_status(int wait_status);
Decision refused_for(Refusal why);
Decision refused_without(Control missing);
Decision failed_at(Step step, int error, std::string text = {});
Decision failed_by(const Failure& failure, Step step = Step::None);

// What was found out when everything in the jail was dead.
struct Findings {
  std::uint64_t oom_kills = 0, memory_hits = 0, process_hits = 0;
  bool disk_full = false, inodes_used = false;
  bool relay_lost = false;  // its totals are unknown
  bool incomplete = false;  // it had not read every pipe to its end in time
  RelayTotals out, err;
  Metrics metrics;
};

// The kernel's OOM killer beats whatever the death looked like; a program killed by RLIMIT_CPU is at its CPU limit;
// a program that ended well but whose output is lost has failed through our fault.
Decision final_decision(Decision first, const Findings& findings, const Limits& limits);

Result make_result(const Spec& spec, const Decision& decision, const Controls& controls, const Findings& findings);

// For a run that never had a kernel object (cancelled while queued).
Result unstarted_result(const Spec& spec, const Decision& decision, Milliseconds queued);

}  // namespace mayfly
