// What jails tell the supervisor, and what operators ask about them.
#include <algorithm>

#include "jail/os/clock.h"
#include "jail/os/log.h"
#include "jail/supervisor/jail_log.h"
#include "jail/supervisor/supervisor.h"

namespace mayfly {

namespace {

std::string how(const Result& result) {
  std::string text(name(result.ending));
  if (result.exit_code) text += ":" + std::to_string(*result.exit_code);
  if (result.signal_number) text += ":" + signal_name(*result.signal_number);
  return text;
}

}  // namespace

void Supervisor::jail_built(const Jail& /*jail*/) { ++built_; }

void Supervisor::jail_running(const Jail& jail) {
  tell(jail.lessee(), Running{jail.lessee().run, jail.spec().id.text(), jail.controls(), jail.spec().limits});
}

void Supervisor::jail_result(Jail& jail, const Result& result, const Decision& decision) {
  const Lessee lessee = jail.lessee();
  if (decision.refusal)
    tell(lessee, refused(lessee.run, result.id, *decision.refusal));
  else
    tell(lessee, Ended{lessee.run, result, jail.running_told()});
  log_jail(jail.spec(), decision.refusal ? "jail.refused" : "jail.ended",
           decision.refusal ? std::string(name(decision.refusal->kind)) : how(result), result.metrics.wall);
  if (const auto peer = front_ends_.find(lessee.front_end); peer != front_ends_.end()) peer->second->over(lessee.run);
  // A command that is not there is its caller's mistake, who is told.
  if (result.ending == Ending::Failed && result.failed_step != Step::Execute) {
    ++failed_;
    log_line(Severity::Warning, "jail.failed",
             {{"jail", result.id}, {"step", std::string(name(result.failed_step))}, {"text", result.text}},
             "run \"mayfly doctor\"");
  }
  if (!jail.slot()) reception_.leave_queue(jail);
  reception_.closed(jail, result);
  stop_when_empty();
}

void Supervisor::jail_left(Jail& jail) {
  reception_.left(jail);
  stop_when_empty();
}

void Supervisor::jail_released(Jail& jail) { reception_.released(jail); }

void Supervisor::jail_leaked(Jail& jail) {
  ++leaks_;
  log_line(Severity::Error, "jail.leaked", {{"jail", jail.spec().id.text()}},
           "its namespaces are not free after 5 s; its slot is not used again until they are");
}

Status Supervisor::status() {
  Status status;
  status.instance = config_.instance;
  status.version = config_.version;
  status.started_unix_ms = started_unix_ms_;
  status.draining = reception_.is_draining();
  status.queued = static_cast<std::uint32_t>(reception_.queued());
  for (const auto& [id, held] : reception_.jails().all()) {
    const Phase phase = held->jail.phase();
    if (phase == Phase::Recorded) ++status.unreleased;
    if (phase > Phase::Queued && phase < Phase::Recorded) ++status.live;
  }
  status.built = built_;
  status.refused = refused_;
  status.failed = failed_;
  status.leaks = leaks_;
  status.cgroups = host_.groups->kind_name();
  status.root = !config_.rootless;
  status.reloads = reloads_;
  status.reloads_refused = reloads_refused_;
  status.restart_needed = restart_needed_;
  status.ssh = config_.ssh;
  status.http = config_.http;
  status.host_key = config_.host_key;
  return status;
}

std::vector<JailRow> Supervisor::jail_rows() {
  std::vector<JailRow> rows;
  const Microseconds now = monotonic_now();
  for (const auto& [id, held] : reception_.jails().all())
    if (!held->jail.is_over()) rows.push_back(held->jail.row(now));
  return rows;
}

std::uint32_t Supervisor::kill_jails(const std::string& target) {
  std::uint32_t count = 0;
  for (const JailId& id : reception_.jails().ids()) {
    HeldJail* held = reception_.jails().find(id);
    if (held == nullptr || held->jail.phase() >= Phase::Ending) continue;
    if (id.text() != target && held->jail.spec().principal != target) continue;
    held->jail.end(ended_as(Ending::Killed));
    ++count;
  }
  return count;
}

void Supervisor::drain() { reception_.drain(); }

}  // namespace mayfly
