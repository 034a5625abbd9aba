// Reception: what happens between an Open and the start of its jail, and what a jail gives back when it goes.
// Owns the queue, the admission, the slots and the table of jails. Owner: supervisor.
#pragma once

#include "jail/supervisor/admission.h"
#include "jail/supervisor/front_end.h"
#include "jail/supervisor/intake.h"
#include "jail/supervisor/jails.h"
#include "jail/supervisor/queue.h"
#include "jail/supervisor/slots.h"
#include "jail/supervisor/surroundings.h"

namespace mayfly {

class Reception {
 public:
  // `tell`: where a run's news go (a front end that may be gone by now).
  using Tell = std::function<void(Lessee, const FromSupervisor&)>;
  Reception(Surroundings& around, const Policy& policy, HostSize host, Tell tell);

  Expected<void> open(FrontEnd& peer, Open open, std::vector<Fd> fds);
  void pump();  // starts whoever may start; called when a place or the builder becomes free
  void limit_principals(const PrincipalLimits& limits) { admission_.limit_principals(limits); }
  void drain();  // no new jails from now on; who waits is refused
  [[nodiscard]] bool is_draining() const { return draining_; }

  // What the supervisor passes on from JailEvents.
  void closed(Jail& jail, const Result& result);
  void left(Jail& jail);
  void released(Jail& jail);

  [[nodiscard]] JailTable& jails() { return jails_; }
  [[nodiscard]] std::size_t queued() const { return queue_.size(); }
  void leave_queue(Jail& jail);  // it ends while it waits

 private:
  void refuse(const FrontEnd& peer, RunNumber run, const Spec& spec, Refusal why);
  void admit_or_wait(HeldJail& held);
  std::optional<Refusal> judge_waiting(const Spec& spec) const;
  [[nodiscard]] std::optional<Refusal> judge_waiting_bytes(const Spec& spec) const;
  void start(HeldJail& held);
  [[nodiscard]] Place judge(const Ticket& ticket);
  void give_up(const JailId& id);
  void tell_positions();
  void bury_if_gone(Jail& jail);

  Surroundings& around_;
  const Policy& policy_;
  Tell tell_;
  Admission admission_;
  Slots slots_;
  Queue queue_;
  JailTable jails_;
  Timer positions_;
  bool draining_ = false, pumping_ = false, pump_again_ = false;
};

}  // namespace mayfly
