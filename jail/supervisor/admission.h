// Admission: what may start now, and what each principal has used. Pure bookkeeping: the clock is handed in.
//
//   if (auto refusal = admission.judge_arrival(spec, now)) ...          once, when a request comes
//   if (admission.judge_start(spec) == Place::Start) Reservation r = admission.reserve(spec, now);
//   ... admission.closed(r); admission.left(r); admission.released(r);  each once, in any order
//
// Memory is reserved at the limit times an overcommit (1.0 API run, 0.5 exec, 0.25 shell: design section 5) until
// the kernel has given it back (released). A place among the API's runs is held until closed: a network namespace
// that is still being freed uses no processor. A principal's live place is held until its last byte is delivered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "jail/spec/policy.h"
#include "jail/spec/spec.h"
#include "jail/supervisor/queue.h"
#include "jail/supervisor/refusal.h"

namespace mayfly {

struct HostSize {
  Bytes memory;  // of the machine
  std::uint32_t processors = 1;
};

class Reservation {
 public:
  Reservation() = default;

 private:
  friend class Admission;
  std::string principal_;
  Bytes memory_;
  bool api_ = false, held_ = false, live_ = false;
};

class Admission {
 public:
  Admission(const Policy& policy, HostSize host);

  std::optional<Refusal> judge_arrival(const Spec& spec, Microseconds now);
  [[nodiscard]] Place judge_start(const Spec& spec) const;
  // What to say to one that waited in vain.
  [[nodiscard]] Refusal waited_in_vain(const Spec& spec) const;

  // From now on; what was used already stays used.
  void limit_principals(const PrincipalLimits& limits) { principals_ = limits; }

  Reservation reserve(const Spec& spec, Microseconds now);
  void closed(Reservation& held);
  void left(Reservation& held);
  void released(Reservation& held);
  void charge_cpu(const Spec& spec, Microseconds used, Microseconds now);

  [[nodiscard]] std::uint32_t jails() const { return jails_; }
  [[nodiscard]] std::size_t accounts() const { return accounts_.size(); }
  [[nodiscard]] static bool is_exempt(const Spec& spec);  // from what is counted per principal
  [[nodiscard]] static Bytes claim(const Spec& spec);

 private:
  struct Account {
    std::uint32_t live = 0;
    double tokens = 0;       // requests that may come at once
    double cpu_seconds = 0;  // left of this hour; may be below zero after a long run
    Microseconds at{};       // when both were brought up to date
  };
  Account& account_of(const std::string& principal, Microseconds now);
  void refresh(Account& account, Microseconds now) const;
  void forget_idle(Microseconds now);
  [[nodiscard]] bool is_share_used(const Spec& spec) const;

  PrincipalLimits principals_;
  Bytes memory_limit_;
  std::uint32_t api_limit_, jail_limit_;
  std::uint64_t memory_ = 0;  // reserved
  std::uint32_t api_ = 0, jails_ = 0;
  std::unordered_map<std::string, Account> accounts_;
  Microseconds forgot_at_{};
};

}  // namespace mayfly
