#include "jail/supervisor/admission.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mayfly {

namespace {

constexpr std::size_t kManyAccounts = 1024;  // from here on idle ones are forgotten, at most once a second
constexpr Microseconds kForgetEvery{1'000'000};
constexpr double kHour = 3600;
constexpr std::uint64_t kSoonMs = 1000;  // when a place gets free is not known; a second is polite

double seconds(Microseconds time) { return static_cast<double>(time.count()) / 1e6; }
std::uint64_t up_to_ms(double time) { return static_cast<std::uint64_t>(std::ceil(std::max(0.0, time) * 1000)); }

std::uint64_t overcommit_percent(Door door) {
  switch (door) {
    case Door::Api:
      return 100;
    case Door::Exec:
    case Door::Run:
      return 50;
    case Door::Shell:
      return 25;
  }
  return 100;
}

}  // namespace

Admission::Admission(const Policy& policy, HostSize host)
    : principals_(policy.principals),
      memory_limit_(policy.host.memory.count != 0 ? policy.host.memory : Bytes{host.memory.count / 10 * 8}),
      api_limit_(policy.host.api_runs != 0 ? policy.host.api_runs : kApiRunsPerProcessor * host.processors),
      jail_limit_(policy.host.jails != 0 ? std::min(policy.host.jails, kSlotsPerInstance) : kSlotsPerInstance) {}

// The machine's own user: nobody is kept out by them, and a class behind one tunnel is many people.
bool Admission::is_exempt(const Spec& spec) {
  return spec.origin == OriginKind::Cli || spec.principal == "anonymous@127.0.0.1" || spec.principal == "anonymous@::1";
}

Bytes Admission::claim(const Spec& spec) { return {spec.limits.memory.count / 100 * overcommit_percent(spec.door)}; }

void Admission::refresh(Account& account, Microseconds now) const {
  const double passed = seconds(now - account.at);
  account.at = now;
  const double burst = principals_.burst;
  const double hourly = principals_.cpu_seconds_per_hour;
  account.tokens = std::min(burst, account.tokens + passed * principals_.requests_per_second);
  account.cpu_seconds = std::min(hourly, account.cpu_seconds + passed * hourly / kHour);
}

Admission::Account& Admission::account_of(const std::string& principal, Microseconds now) {
  const auto [found, is_new] = accounts_.try_emplace(principal);
  Account& account = found->second;
  if (is_new) {
    account.tokens = principals_.burst;
    account.cpu_seconds = principals_.cpu_seconds_per_hour;
    account.at = now;
  } else {
    refresh(account, now);
  }
  return account;
}

// An account at rest is worth as much as none.
void Admission::forget_idle(Microseconds now) {
  if (accounts_.size() < kManyAccounts || now - forgot_at_ < kForgetEvery) return;
  forgot_at_ = now;
  for (auto at = accounts_.begin(); at != accounts_.end();) {
    Account& account = at->second;
    refresh(account, now);
    const bool at_rest = account.live == 0 && account.tokens >= principals_.burst &&
                         account.cpu_seconds >= principals_.cpu_seconds_per_hour;
    at = at_rest ? accounts_.erase(at) : std::next(at);
  }
}

std::optional<Refusal> Admission::judge_arrival(const Spec& spec, Microseconds now) {
  if (claim(spec).count > memory_limit_.count)
    return Refusal{RefusalKind::Quota, "limits.memoryBytes",
                   "one such jail needs more memory than all jails of this host together may have (" +
                       std::to_string(memory_limit_.count) + " bytes)",
                   0};
  if (is_exempt(spec)) return std::nullopt;
  forget_idle(now);
  Account& account = account_of(spec.principal, now);
  if (account.tokens < 1) {
    const double wait = (1 - account.tokens) / std::max(1u, principals_.requests_per_second);
    return Refusal{RefusalKind::Quota, "",
                   "more than " + std::to_string(principals_.requests_per_second) + " requests a second",
                   up_to_ms(wait)};
  }
  account.tokens -= 1;
  if (account.cpu_seconds <= 0) {
    const double wait = (1 - account.cpu_seconds) * kHour / std::max(1u, principals_.cpu_seconds_per_hour);
    return Refusal{RefusalKind::Quota, "",
                   "used its " + std::to_string(principals_.cpu_seconds_per_hour) + " CPU-seconds per hour",
                   up_to_ms(wait)};
  }
  // A shell lives for up to an hour: waiting for one to end is no plan.
  if (spec.door == Door::Shell && is_share_used(spec)) return waited_in_vain(spec);
  return std::nullopt;
}

bool Admission::is_share_used(const Spec& spec) const {
  if (is_exempt(spec)) return false;
  const auto found = accounts_.find(spec.principal);
  return found != accounts_.end() && found->second.live >= principals_.live;
}

Place Admission::judge_start(const Spec& spec) const {
  if (jails_ >= jail_limit_) return Place::NobodyNow;
  if (spec.door == Door::Api && api_ >= api_limit_) return Place::NotThisKind;
  if (is_share_used(spec)) return Place::NotThisOne;
  if (memory_ + claim(spec).count > memory_limit_.count) return Place::NobodyNow;
  return Place::Start;
}

Refusal Admission::waited_in_vain(const Spec& spec) const {
  if (is_share_used(spec))
    return {RefusalKind::Quota, "",
            "has " + std::to_string(principals_.live) + " live jails, the limit of one principal", kSoonMs};
  return {RefusalKind::WaitedTooLong, "",
          "no place became free within " + std::to_string(spec.queue_wait.count()) + " ms", kSoonMs};
}

Reservation Admission::reserve(const Spec& spec, Microseconds now) {
  Reservation made;
  made.memory_ = claim(spec);
  made.held_ = true;
  made.api_ = spec.door == Door::Api;
  memory_ += made.memory_.count;
  ++jails_;
  if (made.api_) ++api_;
  if (!is_exempt(spec)) {
    made.live_ = true;
    made.principal_ = spec.principal;
    ++account_of(spec.principal, now).live;
  }
  return made;
}

void Admission::closed(Reservation& held) {
  if (std::exchange(held.api_, false)) --api_;
}

void Admission::left(Reservation& held) {
  if (!std::exchange(held.live_, false)) return;
  const auto found = accounts_.find(held.principal_);
  if (found != accounts_.end() && found->second.live > 0) --found->second.live;
}

void Admission::released(Reservation& held) {
  if (!std::exchange(held.held_, false)) return;
  memory_ -= held.memory_.count;
  --jails_;
}

void Admission::charge_cpu(const Spec& spec, Microseconds used, Microseconds now) {
  if (is_exempt(spec)) return;
  account_of(spec.principal, now).cpu_seconds -= seconds(used);
}

}  // namespace mayfly
