#include "jail/supervisor/reception.h"

#include "jail/os/clock.h"
#include "jail/os/log.h"
#include "jail/supervisor/jail_log.h"
#include "jail/supervisor/timers.h"

namespace mayfly {

Reception::Reception(Surroundings& around, const Policy& policy, HostSize host, Tell tell)
    : around_(around),
      policy_(policy),
      tell_(std::move(tell)),
      admission_(policy, host),
      slots_(kSlotsPerInstance),
      jails_(around.loop),
      positions_(around.loop) {}

void Reception::refuse(const FrontEnd& peer, RunNumber run, const Spec& spec, Refusal why) {
  log_jail(spec, "jail.refused", std::string(name(why.kind)), Microseconds{});
  tell_(Lessee{peer.id(), run}, refused(run, spec.id.text(), std::move(why)));
}

Expected<void> Reception::open(FrontEnd& peer, Open open, std::vector<Fd> fds) {
  const RunNumber run = open.run;
  const Identity* identity = peer.identity() ? &*peer.identity() : nullptr;
  Intake intake = TRY(take_in(std::move(open), std::move(fds), peer.role(), identity, policy_));
  if (const auto* why = std::get_if<Refusal>(&intake)) {
    tell_(Lessee{peer.id(), run}, refused(run, "", *why));  // a mistake of the peer's, who is told
    return {};
  }
  auto& [spec, peer_fds] = std::get<Accepted>(intake);
  if (draining_) {
    refuse(peer, run, spec, {RefusalKind::Draining, "", "the service takes no new jails: it is draining", 0});
    return {};
  }
  if (peer.runs().size() >= kMaxRunsPerPeer) {
    refuse(peer, run, spec,
           {RefusalKind::QueueFull, "", std::to_string(kMaxRunsPerPeer) + " runs on one connection, the limit", 1000});
    return {};
  }
  if (std::optional<Refusal> why = admission_.judge_arrival(spec, monotonic_now())) {
    refuse(peer, run, spec, std::move(*why));
    return {};
  }
  peer.began(run, spec.id);
  HeldJail& held =
      jails_.add(std::make_unique<HeldJail>(around_, std::move(spec), std::move(peer_fds), Lessee{peer.id(), run}));
  admit_or_wait(held);
  return {};
}

void Reception::admit_or_wait(HeldJail& held) {
  Jail& jail = held.jail;
  const Spec& spec = jail.spec();
  queue_.push({spec.id, spec.origin, spec.principal});
  pump();
  if (jail.phase() != Phase::Queued) return;
  if (std::optional<Refusal> why = judge_waiting(spec)) return jail.end(refused_for(std::move(*why)));
  held.deadline.set(spec.queue_wait, [this, id = spec.id] { give_up(id); });
  for (const auto& [id, number] : queue_.positions())
    if (id == spec.id) tell_(jail.lessee(), Queued{jail.lessee().run, id.text(), number});
}

// It is in the queue already, and counted.
std::optional<Refusal> Reception::judge_waiting(const Spec& spec) const {
  constexpr std::uint64_t kRetryMs = 1000;
  if (queue_.size() > policy_.queue_total)
    return Refusal{RefusalKind::QueueFull, "", std::to_string(policy_.queue_total) + " requests wait already",
                   kRetryMs};
  if (!Admission::is_exempt(spec) && queue_.size_of(spec.principal) > policy_.principals.queued)
    return Refusal{RefusalKind::QueueFull, "",
                   std::to_string(policy_.principals.queued) + " requests of this principal wait already", kRetryMs};
  if (std::optional<Refusal> why = judge_waiting_bytes(spec)) return why;
  if (spec.queue_wait.count() == 0) return admission_.waited_in_vain(spec);
  return std::nullopt;
}

// A payload is memory of ours for as long as its run waits.
std::optional<Refusal> Reception::judge_waiting_bytes(const Spec& spec) const {
  std::uint64_t all = 0, own = 0;
  for (const auto& [id, held] : jails_.all()) {
    if (held->jail.phase() != Phase::Queued) continue;
    all += held->jail.payload_bytes();
    if (held->jail.spec().principal == spec.principal) own += held->jail.payload_bytes();
  }
  const auto full = [](Bytes limit, const char* whose) {
    return Refusal{RefusalKind::QueueFull, "",
                   "code and files of " + std::to_string(limit.count >> 20) + " MiB wait already" + whose, 1000};
  };
  if (all > kMaxWaitingPayload.count) return full(kMaxWaitingPayload, "");
  if (!Admission::is_exempt(spec) && own > kMaxWaitingOfPrincipal.count)
    return full(kMaxWaitingOfPrincipal, " of this principal");
  return std::nullopt;
}

void Reception::give_up(const JailId& id) {
  if (HeldJail* held = jails_.find(id)) held->jail.end(refused_for(admission_.waited_in_vain(held->jail.spec())));
}

Place Reception::judge(const Ticket& ticket) {
  HeldJail* held = jails_.find(ticket.id);
  // Relays that still deliver hold slots beyond what is reserved.
  if (held == nullptr || slots_.taken() >= kSlotsPerInstance) return Place::NobodyNow;
  return admission_.judge_start(held->jail.spec());
}

// A jail that cannot even be assembled ends, and comes back here, within start(): hence the second round.
void Reception::pump() {
  if (pumping_) {
    pump_again_ = true;
    return;
  }
  pumping_ = true;
  const std::size_t before = queue_.size();
  do {
    pump_again_ = false;
    while (!draining_ && queue_.size() > 0 && around_.builder.is_ready() && around_.witness.is_ready()) {
      const auto ticket = queue_.take([this](const Ticket& t) { return judge(t); });
      if (!ticket) break;
      start(*jails_.find(ticket->id));
    }
  } while (pump_again_);
  pumping_ = false;
  if (queue_.size() > 0 && queue_.size() != before && !positions_.is_set())
    positions_.set(kPositionNews, [this] { tell_positions(); });
}

void Reception::start(HeldJail& held) {
  held.deadline.cancel();
  const std::optional<std::uint32_t> slot = slots_.take();
  if (!slot) return held.jail.end(refused_for({RefusalKind::QueueFull, "", "every place is taken", 1000}));
  held.reservation = admission_.reserve(held.jail.spec(), monotonic_now());
  jails_.seat(held, *slot);
  held.jail.build(*slot);
}

void Reception::tell_positions() {
  for (const auto& [id, number] : queue_.positions())
    if (HeldJail* held = jails_.find(id))
      tell_(held->jail.lessee(), Queued{held->jail.lessee().run, id.text(), number});
}

void Reception::leave_queue(Jail& jail) {
  if (!queue_.remove(jail.spec().id)) return;
  if (HeldJail* held = jails_.find(jail.spec().id)) held->deadline.cancel();
  if (queue_.size() > 0 && !positions_.is_set()) positions_.set(kPositionNews, [this] { tell_positions(); });
}

void Reception::drain() {
  draining_ = true;
  for (const JailId& id : jails_.ids()) {
    HeldJail* held = jails_.find(id);
    if (held != nullptr && held->jail.phase() == Phase::Queued)
      held->jail.end(refused_for({RefusalKind::Draining, "", "the service takes no new jails: it is draining", 0}));
  }
}

void Reception::closed(Jail& jail, const Result& result) {
  HeldJail* held = jails_.find(jail.spec().id);
  if (held == nullptr) return;
  admission_.closed(held->reservation);
  if (result.metrics.cpu.value) admission_.charge_cpu(jail.spec(), *result.metrics.cpu.value, monotonic_now());
  if (queue_.size() > 0) pump();
}

void Reception::left(Jail& jail) {
  HeldJail* held = jails_.find(jail.spec().id);
  if (held == nullptr) return;
  admission_.left(held->reservation);
  bury_if_gone(jail);
  if (queue_.size() > 0) pump();
}

void Reception::released(Jail& jail) {
  HeldJail* held = jails_.find(jail.spec().id);
  if (held == nullptr) return;
  admission_.released(held->reservation);
  bury_if_gone(jail);
  if (queue_.size() > 0) pump();
}

void Reception::bury_if_gone(Jail& jail) {
  if (jail.phase() != Phase::Released || !jail.has_left()) return;
  if (const auto slot = jail.slot()) slots_.give_back(*slot);
  jails_.bury(jail.spec().id);
}

}  // namespace mayfly
