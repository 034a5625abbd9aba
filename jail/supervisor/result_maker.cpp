#include "jail/supervisor/result_maker.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "jail/spec/escape.h"
#include "jail/wire/result_json.h"

namespace mayfly {

namespace {

// SHA-256 of no bytes, for runs whose program never wrote any (FIPS 180-4).
constexpr std::array<std::uint8_t, 32> kEmptySha256 = {0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4,
                                                       0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b,
                                                       0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55};

// RLIMIT_CPU is checked by the kernel at scheduler ticks: what is this near below the limit has met it.
constexpr Microseconds kCpuGrain{50'000};

std::string seconds_text(Milliseconds time) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f s", static_cast<double>(time.count()) / 1000);
  return text;
}

std::string bytes_text(Bytes bytes) {
  const bool whole = bytes.count % (1u << 20) == 0;
  return whole ? std::to_string(bytes.count >> 20) + " MiB" : std::to_string(bytes.count) + " bytes";
}

std::string failure_text(const Decision& decision) {
  // The builder and the jail are well: it is the command that is not there, or no program.
  if (decision.step == Step::Execute && decision.error != 0)
    return std::string("the program cannot be started in the jail: ") + std::strerror(decision.error);
  std::string text =
      decision.step == Step::None ? "mayfly's own failure" : std::string(name(decision.step)) + " failed";
  if (decision.error != 0) text += std::string(": ") + std::strerror(decision.error);
  return text;
}

std::string usual_text(const Decision& decision, const Limits& limits) {
  switch (decision.ending) {
    case Ending::Exited:
      return "exited with status " + std::to_string(WEXITSTATUS(decision.wait_status.value_or(0)));
    case Ending::Signalled:
      return "died of " + signal_name(WTERMSIG(decision.wait_status.value_or(0)));
    case Ending::TimeLimit:
      return "ran for " + seconds_text(limits.wall) + ", the limit";
    case Ending::IdleLimit:
      return "no input for " + seconds_text(limits.idle) + ", the limit";
    case Ending::CpuLimit:
      return "used " + seconds_text(limits.cpu_time) + " of CPU time, the limit";
    case Ending::MemoryLimit:
      return "used " + bytes_text(limits.memory) + " of memory, the limit";
    case Ending::OutputLimit:
      return "wrote more than " + bytes_text(limits.output_ceiling) + ", the limit";
    case Ending::Cancelled:
      return "cancelled by the peer";
    case Ending::Disconnected:
      return "the peer is gone";
    case Ending::Killed:
      return "killed by an operator";
    case Ending::Shutdown:
      return "the service is stopping";
    case Ending::Refused:
      return decision.refusal ? decision.refusal->text : "refused";
    case Ending::Failed:
      return failure_text(decision);
    case Ending::Lost:
      return "the service died while it ran";
  }
  return {};
}

StreamTotals totals_of(const RelayTotals& counted, bool known) {
  StreamTotals totals;
  totals.sha256 = kEmptySha256;
  if (!known) return totals;
  totals.bytes =
      std::min<std::uint64_t>(counted.bytes, INT64_MAX);  // a relay is not believed more than messages can hold
  totals.sha256 = counted.sha256;
  totals.truncated = counted.truncated != 0;
  if (totals.truncated) {
    const std::size_t length = std::min<std::size_t>(counted.tail_length, counted.tail.size());
    totals.tail = std::string(counted.tail.data(), length);
  }
  return totals;
}

std::vector<LimitReached> limits_reached(const Result& result, const Findings& findings) {
  std::vector<LimitReached> reached;
  const auto add = [&](bool hit, LimitReached limit) {
    if (hit) reached.push_back(limit);
  };
  add(findings.process_hits > 0, LimitReached::Processes);
  add(findings.oom_kills > 0 || findings.memory_hits > 0, LimitReached::Memory);
  add(findings.disk_full, LimitReached::Disk);
  add(findings.inodes_used, LimitReached::Inodes);
  add(result.out.truncated || result.err.truncated || result.ending == Ending::OutputLimit, LimitReached::Output);
  return reached;
}

// A relay is not believed more than messages can hold.
std::uint64_t written(const Findings& findings) {
  constexpr std::uint64_t kMost = INT64_MAX;
  return std::min(findings.out.bytes, kMost) + std::min(findings.err.bytes, kMost);
}

// Whose execve failed. Where the peer named it, it is how the command begins.
std::string program_of(const Spec& spec) {
  if (!spec.argv.empty() && !spec.argv.front().in_payload) return spec.argv.front().own;
  return spec.command.substr(0, spec.command.find(' '));
}

Result bare_result(const Spec& spec, const Decision& decision) {
  Result result;
  result.id = spec.id.text();
  result.ending = decision.ending;
  result.text = decision.text.empty() ? usual_text(decision, spec.limits) : decision.text;
  if (decision.step == Step::Execute && decision.error != 0) result.text += ": " + program_of(spec);
  result.limits = spec.limits;
  result.environment = spec.environment;
  if (spec.has_seed) result.folders.emplace_back("seed");
  if (spec.has_data) result.folders.emplace_back("readonly");
  result.profile = spec.profile;
  result.language = spec.language;
  result.label = spec.label;
  result.out.sha256 = result.err.sha256 = kEmptySha256;
  if (decision.ending == Ending::Failed) {
    result.failed_step = decision.step;
    result.failed_errno = decision.error;
  }
  return result;
}

bool is_cpu_signal(int wait_status) {
  return WIFSIGNALED(wait_status) && (WTERMSIG(wait_status) == SIGXCPU || WTERMSIG(wait_status) == SIGKILL);
}

}  // namespace

Decision ended_as(Ending ending) {
  Decision decision;
  decision.ending = ending;
  return decision;
}

Decision from_wait_status(int wait_status) {
  Decision decision;
  decision.ending = WIFSIGNALED(wait_status) ? Ending::Signalled : Ending::Exited;
  decision.wait_status = wait_status;
  return decision;
}

Decision refused_for(Refusal why) {
  Decision decision;
  decision.ending = Ending::Refused;
  decision.refusal = std::move(why);
  return decision;
}

Decision refused_without(Control missing) {
  const std::string word(name(missing));
  return refused_for(
      {RefusalKind::ControlMissing, word, "control \"" + word + "\" is required and absent on this host", 0});
}

// `error` may come from a jail's own pid 1 or from its relay, and goes into messages that front ends judge strictly.
Decision failed_at(Step step, int error, std::string text) {
  const bool is_errno = error >= 0 && error <= kMaxErrno;
  return Decision{Ending::Failed, std::move(text), step, is_errno ? error : EPROTO, std::nullopt, std::nullopt};
}

// The failure's own text names files and processes of the host: it goes to the log, not to the peer.
Decision failed_by(const Failure& failure, Step step) { return failed_at(step, failure.error); }

Decision final_decision(Decision first, const Findings& findings, const Limits& limits) {
  const bool ended_by_itself = first.ending == Ending::Exited || first.ending == Ending::Signalled;
  const bool status_missing = first.ending == Ending::Failed && first.step == Step::None;
  if (findings.oom_kills > 0 && (ended_by_itself || status_missing)) return ended_as(Ending::MemoryLimit);
  if (first.ending == Ending::Signalled && is_cpu_signal(*first.wait_status) && findings.metrics.cpu.value &&
      *findings.metrics.cpu.value + kCpuGrain >= limits.cpu_time)
    return ended_as(Ending::CpuLimit);
  // Its last bytes may have come together with its end, so that nobody had the time to end it.
  if (ended_by_itself && !findings.relay_lost && written(findings) > limits.output_ceiling.count)
    return ended_as(Ending::OutputLimit);
  if (ended_by_itself && findings.relay_lost)
    return failed_at(Step::None, 0, "the relay of its output broke before everything was read");
  return first;
}

Result make_result(const Spec& spec, const Decision& decision, const Controls& controls, const Findings& findings) {
  Result result = bare_result(spec, decision);
  if (decision.ending == Ending::Exited) result.exit_code = WEXITSTATUS(decision.wait_status.value_or(0));
  if (decision.ending == Ending::Signalled) result.signal_number = WTERMSIG(decision.wait_status.value_or(0));
  result.output_incomplete = findings.incomplete || findings.relay_lost;
  result.out = totals_of(findings.out, !findings.relay_lost);
  result.err = totals_of(findings.err, !findings.relay_lost && spec.terminal == Terminal::None);
  result.controls = controls;
  result.metrics = findings.metrics;
  result.limits_reached = limits_reached(result, findings);
  return result;
}

Result unstarted_result(const Spec& spec, const Decision& decision, Milliseconds queued) {
  Result result = bare_result(spec, decision);
  result.metrics.queued = queued;
  const std::string why = "it never started";
  result.metrics.cpu.why = result.metrics.memory_peak.why = result.metrics.processes_peak.why = why;
  return result;
}

}  // namespace mayfly
