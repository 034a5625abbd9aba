// The end of a jail, in order (design section 4):
//   end()           the first decision wins; what the builder still owes us is awaited
//   strike()        the CPU quota is lifted and pid 1 killed, and with it everything inside
//   after_death()   pid 1 is reaped: final accounting, cgroups removed; meanwhile the relay reads what is left in the
//                   pipes
//   close()         both are done and our descriptors closed: closed
//   announce()      the result is final and handed out, the relay delivers the rest
//   await_release() the kernel frees what it frees late: the slot is used again only then
#include <linux/magic.h>
#include <sys/epoll.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>

#include "jail/os/child.h"
#include "jail/os/clock.h"
#include "jail/os/log.h"
#include "jail/supervisor/jail.h"
#include "jail/supervisor/timers.h"

namespace mayfly {

namespace {

// Over SSH the reason line is the only thing that tells a limit from a program's own status. Who speaks the result
// object has it all in there.
bool wants_reason_line(const Result& result, OriginKind origin) {
  const bool own_end = result.ending == Ending::Exited || result.ending == Ending::Signalled;
  return origin == OriginKind::Ssh && (!own_end || result.output_incomplete);
}

}  // namespace

void Jail::end(Decision decision) {
  if (phase_ == Phase::Queued) return end_unstarted(decision);
  if (phase_ >= Phase::Ending || !advance(Event::EndRequested)) return;
  decision_ = std::move(decision);
  decided_ = monotonic_now();
  if (opened_.count() != 0) findings_.metrics.wall = decided_ - opened_;
  limit_timer_.cancel();
  cpu_timer_.cancel();
  stage_timer_.cancel();
  news_timer_.cancel();
  group_.attached();
  if (plan_sent_ && !build_answered_) {
    if (around_.builder.withdraw(*slot_)) {  // the plan never left
      build_answered_ = true;
      released_told_ = true;
    } else {
      stage_ = Stage::AwaitBuilder;
      stage_timer_.set(kBuildLimit, [this] { after_death(); });
      return;
    }
  }
  strike();
}

// Never had a kernel object.
void Jail::end_unstarted(const Decision& decision) {
  if (!advance(Event::EndRequested)) return;
  peer_ = PeerFds();
  const auto queued = std::chrono::duration_cast<Milliseconds>(monotonic_now() - asked_);
  const Result result = unstarted_result(spec_, decision, queued);
  stage_ = Stage::Done;
  advance(Event::Recorded);
  around_.events.jail_result(*this, result, decision);
  release();
  leave();
}

void Jail::strike() {
  stage_ = Stage::AwaitDeath;
  if (!pidfd_ || pid1_dead_) return after_death();
  if (!ends_itself_) look_at_disk();
  // Without this the last of many processes at a small quota dies seconds later (design section 2).
  const Expected<void> lifted = group_.kind() == CgroupKind::V2 ? group_.kill_all() : group_.lift_cpu_quota();
  if (!lifted)
    log_line(Severity::Warning, "jail.quota_not_lifted", {{"jail", spec_.id.text()}, {"error", lifted.error().text()}});
  // It is on its way out already: no need to take the processor from it now.
  if (ends_itself_) return stage_timer_.set(kOwnEndLimit, [this] { kill(); });
  kill();
}

void Jail::kill() {
  if (const Expected<void> killed = signal_pidfd(pidfd_.fd(), SIGKILL); !killed && killed.error().error != ESRCH)
    log_line(Severity::Error, "jail.not_killed", {{"jail", spec_.id.text()}, {"error", killed.error().text()}});
  stage_timer_.set(kDeathLimit, [this] {
    log_line(Severity::Error, "jail.stuck", {{"jail", spec_.id.text()}, {"pid", std::to_string(pid1_)}},
             "a process in it does not die; its slot stays taken");
    after_death();
  });
}

// The root is a tmpfs of this jail alone: full now means that the program met its limit. Asked while pid 1 is there
// to ask through; checked to be a tmpfs, in case it has just died and its number was given to somebody else.
void Jail::look_at_disk() {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/root", static_cast<int>(pid1_));
  struct statfs root {};
  if (::statfs(path, &root) != 0 || root.f_type != TMPFS_MAGIC || has_ended(pidfd_.fd())) return;
  findings_.disk_full |= root.f_blocks != 0 && root.f_bfree == 0;
  findings_.inodes_used |= root.f_files != 0 && root.f_ffree == 0;
}

// pid 1 is dead and reaped, and with it every process of its pid namespace.
void Jail::pid1_ended() {
  pidfd_.quiet();
  pid1_dead_ = true;
  if (phase_ == Phase::Recorded && builder_lost_) return await_release();  // stuck until now, and nobody else will tell
  if (stage_ == Stage::AwaitDeath) return after_death();
  if (phase_ >= Phase::Ending) return;
  // What it, or the relay, said last explains the death.
  read_gate();
  relay_.catch_up();
  if (phase_ < Phase::Ending)
    end(failed_at(Step::None, 0, "its first process ended without telling how the program did"));
}

void Jail::after_death() {
  if (stage_ != Stage::AwaitDeath && stage_ != Stage::AwaitBuilder) return;
  stage_ = Stage::AwaitClosed;
  stage_timer_.cancel();
  if (plan_sent_ && !pidfd_ && !released_told_) (void)group_.kill_all();  // nobody to kill by name
  await_drained();
  account();
  remove_group();
}

void Jail::await_drained() {
  if (drained_) return;
  if (!relay_.is_open()) {
    findings_.relay_lost = attached_;
    drained_ = true;
    return;
  }
  if (!pid1_dead_ || !relay_.sees_death()) relay_.drain();
  drain_timer_.set(kDrainLimit + kDrainedGrace, [this] {
    log_line(Severity::Error, "relay.silent", {{"jail", spec_.id.text()}}, "it did not answer; its jail has failed");
    lose_output();
  });
}

void Jail::lose_output() {
  findings_.relay_lost = true;
  drained_ = true;
  close();
}

// Often before we have seen the death ourselves. What a relay counted after it said this is worth nothing.
void Jail::drained(const RelayReport& report) {
  if (std::exchange(drained_, true) || phase_ >= Phase::Closed) return;
  findings_.out = report.out;
  findings_.err = report.err;
  findings_.incomplete = report.incomplete != 0;
  close();
}

void Jail::relay_gone() {
  if (phase_ >= Phase::Recorded) return await_relay();
  if (stage_ == Stage::AwaitClosed && !drained_) return lose_output();
  end(failed_at(Step::MakeStreams, 0, "the relay of its output died"));
}

// The end of its line, which comes as well, tells what that means while the jail lives.
void Jail::relay_dead() {
  if (phase_ >= Phase::Recorded) leave();
}

void Jail::account() {
  GroupAccounting used = group_.account();
  Metrics& metrics = findings_.metrics;
  if (used.cpu.value || !metrics.cpu.value) metrics.cpu = std::move(used.cpu);
  metrics.memory_peak = std::move(used.memory_peak);
  metrics.processes_peak = std::move(used.processes_peak);
  const GroupEvents events = group_.events();
  findings_.oom_kills = events.oom_kills;
  findings_.memory_hits = events.memory_max_hits;
  findings_.process_hits = events.pids_max_hits;
  oom_timer_.cancel();
  oom_.reset();
}

// EBUSY for a moment after the last death is usual; waited for without holding up anybody else.
void Jail::remove_group() {
  const Expected<void> removed = group_.remove();
  if (!removed && removed.error().error == EBUSY && removal_delay_ <= kGroupRemovalLimit) {
    stage_timer_.set(removal_delay_, [this] { remove_group(); });
    removal_delay_ *= 2;
    return;
  }
  if (!removed)
    log_line(Severity::Error, "jail.group_left", {{"jail", spec_.id.text()}, {"error", removed.error().text()}},
             "the next start removes it");
  group_is_removed_ = true;
  close();
}

void Jail::close() {
  if (stage_ != Stage::AwaitClosed || !drained_ || !group_is_removed_) return;
  stage_ = Stage::Done;
  drain_timer_.cancel();
  gate_.reset();
  if (pid1_dead_) pidfd_.reset();  // kept for one that is stuck: its uids are in use for as long as it lives
  peer_ = PeerFds();
  findings_.metrics.closed = monotonic_now() - decided_;
  if (advance(Event::Closed)) announce();
}

void Jail::announce() {
  const Decision decision = final_decision(decision_, findings_, spec_.limits);
  const Result result = make_result(spec_, decision, controls_, findings_);
  advance(Event::Recorded);
  // The result first: whoever waits for it is on its way while the relay closes the streams and ends.
  around_.events.jail_result(*this, result, decision);
  if (spec_.origin == OriginKind::Ssh)
    finish_relay(wants_reason_line(result, spec_.origin) ? reason_line(result) : std::string());
  else  // nobody waits for its end: its streams are over as soon as they are delivered
    news_timer_.set(kFinishDelay, [this] { finish_relay({}); });
  await_release();
}

void Jail::finish_relay(const std::string& line) {
  if (!relay_.is_open()) return await_relay();
  relay_.finish(line);
}

void Jail::await_release() {
  if (!plan_sent_ || released_told_) return release();
  stage_timer_.set(kReleaseLimit, [this] {
    // The builder that could have told is dead: nobody knows, and this long is enough for what is not stuck.
    if (builder_lost_ && (pid1_dead_ || !had_pid1_)) return release();
    if (!std::exchange(leak_told_, true)) around_.events.jail_leaked(*this);
  });
}

void Jail::release() {
  if (phase_ != Phase::Recorded || !advance(Event::Released)) return;
  stage_timer_.cancel();
  around_.events.jail_released(*this);
}

// It has nothing to do any more. One that does not end would live on under the ids of the slot's next jail.
void Jail::await_relay() {
  if (!relay_.lives()) return leave();
  drain_timer_.set(kRelayExitLimit, [this] {
    log_line(Severity::Error, "relay.lingers", {{"jail", spec_.id.text()}}, "it said that it had ended; killed");
    relay_.kill();
  });
}

void Jail::leave() {
  if (std::exchange(left_, true)) return;
  around_.events.jail_left(*this);
}

JailRow Jail::row(Microseconds now) const {
  JailRow row;
  row.id = spec_.id.text();
  row.profile = spec_.profile;
  row.principal = spec_.principal;
  row.peer = spec_.peer;
  row.command = spec_.command;
  row.origin = spec_.origin;
  row.phase = phase_;
  row.pid = pid1_;
  row.age_ms = static_cast<std::uint64_t>((now - asked_).count() / 1000);
  if (phase_ == Phase::Running) {
    const auto left = std::chrono::duration_cast<Milliseconds>(opened_ + spec_.limits.wall - now);
    row.left_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(0, left.count()));
    const GroupUsage usage = group_.usage();
    if (usage.memory.value) row.memory_bytes = usage.memory.value->count;
    if (usage.cpu.value) row.cpu_us = static_cast<std::uint64_t>(usage.cpu.value->count());
    if (usage.processes.value) row.processes = *usage.processes.value;
    if (controls_.at(Control::Memory) != Measured::Unlimited) row.memory_limit = spec_.limits.memory.count;
  }
  return row;
}

}  // namespace mayfly
