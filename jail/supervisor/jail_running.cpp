// A jail while it runs: the gate opens, the clocks tick, the relay reports.
#include <algorithm>
#include <cstring>

#include "jail/os/clock.h"
#include "jail/os/log.h"
#include "jail/supervisor/fixed_message.h"
#include "jail/supervisor/jail.h"
#include "jail/supervisor/timers.h"

namespace mayfly {

// On a terminal the front end hears of it first, so that its greeting stands before the program's first byte;
// everybody else's program does not wait for that.
void Jail::open_gate() {
  if (!advance(Event::Opened)) return;
  opened_ = monotonic_now();
  findings_.metrics.build = opened_ - admitted_;
  around_.events.jail_built(*this);
  if (spec_.terminal == Terminal::Wanted) tell_running();
  if (phase_ != Phase::Running) return;  // its front end was gone: the jail has been ended meanwhile
  start_clocks();
  // Not now: what wakes up, and what we do ourselves from here on, would take the program's processor from it.
  news_timer_.set(spec_.origin == OriginKind::Api ? kApiNewsDelay : kNewsDelay, [this] {
    group_.attached();
    relay_.opened();
    tell_running();
  });
  GateCommand command;
  command.order = GateOrder::Open;
  if (const Expected<void> sent = send_message(gate_.get(), bytes_of(command), {}); !sent)
    end(failed_by(sent.error(), Step::Gate));
}

void Jail::tell_running() {
  if (!std::exchange(running_told_, true)) around_.events.jail_running(*this);
}

// Idle time is the relay's to tell: it alone sees the peer's bytes.
void Jail::start_clocks() {
  stage_timer_.cancel();
  limit_timer_.set(spec_.limits.wall, [this] { end(ended_as(Ending::TimeLimit)); });
  if (group_.kind() != CgroupKind::None) cpu_timer_.set(earliest_cpu_limit({}), [this] { check_cpu(); });
}

// The soonest that `used` can have become the limit. A check costs a read: not too often.
Milliseconds Jail::earliest_cpu_limit(Microseconds used) const {
  const Microseconds left = spec_.limits.cpu_time - used;
  const std::int64_t processors = std::max<std::int64_t>(1, (spec_.limits.cpus.count + 999) / 1000);
  return std::max(std::chrono::ceil<Milliseconds>(left / processors), kCpuCheckLeast);
}

// Looks again at the earliest moment at which the limit could be passed. Where no group can tell, RLIMIT_CPU of each
// process stands alone.
void Jail::check_cpu() {
  const GroupUsage usage = group_.usage();
  // A read that fails now may succeed later: the limit must not be forgotten.
  if (!usage.cpu.value) return cpu_timer_.set(kCpuCheckRetry, [this] { check_cpu(); });
  if (*usage.cpu.value >= spec_.limits.cpu_time) return end(ended_as(Ending::CpuLimit));
  cpu_timer_.set(earliest_cpu_limit(*usage.cpu.value), [this] { check_cpu(); });
}

void Jail::relay_says(const RelayReport& report) {
  switch (report.says) {
    case RelaySays::Attached:
      if (!std::exchange(attached_, true) && report.made_ahead != 0) findings_.metrics.made_ahead.emplace_back("relay");
      return judge_gate();
    case RelaySays::Ceiling:
      return end(ended_as(Ending::OutputLimit));
    case RelaySays::Idle:
      return end(ended_as(Ending::IdleLimit));
    case RelaySays::Backup:
      return end(ended_as(Ending::TimeLimit));
    case RelaySays::PeerGone:
      return;  // the program meets SIGPIPE; whether its peer is gone as a whole is told by the lease connection
    case RelaySays::Drained:
      return drained(report);
    case RelaySays::Delivered:
      if (phase_ >= Phase::Recorded) return await_relay();
      return end(failed_at(Step::MakeStreams, EBADMSG, "the relay of its output ended before its time"));
    case RelaySays::Broken:
      log_line(Severity::Error, "relay.broken",
               {{"jail", spec_.id.text()},
                {"error", std::to_string(report.error)},
                {"doing", std::string(report.text, ::strnlen(report.text, sizeof report.text))}});
      return end(failed_at(Step::MakeStreams, report.error, "the relay of its output failed"));
  }
}

}  // namespace mayfly
