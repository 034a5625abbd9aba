// BuilderLink: the supervisor's line to the builder. A builder that dies is replaced by the keeper (adopt() again).
// Messages: wire/plan.h. Owner: supervisor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jail/supervisor/outbox.h"
#include "jail/supervisor/watched.h"
#include "jail/wire/plan.h"

namespace mayfly {

class BuilderEvents {
 public:
  virtual ~BuilderEvents() = default;
  virtual void builder_ready() = 0;
  virtual void builder_says(const BuilderReply& reply, Fd pidfd) = 0;  // Cloned (with pidfd), Failed, Released
  virtual void builder_gone() = 0;                                     // the plans that it had are in the unknown
};

class BuilderLink {
 public:
  BuilderLink(EventLoop& loop, BuilderEvents& events) : loop_(loop), events_(events) {}

  Expected<void> adopt(Fd socket);
  [[nodiscard]] bool is_ready() const { return ready_; }
  [[nodiscard]] const BuilderReply& facts() const { return facts_; }  // of the last Ready

  // Worth while where the last jail found no network namespace made ahead. True: told, and the next plan is to say so.
  bool prepare();
  // `fds` in the order of wire/plan.h; `given` are those of them that are closed once sent.
  Expected<void> send(const Plan& plan, std::span<const int> fds, std::vector<Fd> given);
  bool withdraw(std::uint32_t slot) { return orders_.withdraw(slot + 1ull); }  // true: never reached the builder

 private:
  void on_event(std::uint32_t what);
  void take_one(bool& more);
  void lose(const char* why, int error);

  EventLoop& loop_;
  BuilderEvents& events_;
  Watched socket_;
  Outbox orders_;
  std::vector<std::byte> message_;  // the last plan, as it was sent
  BuilderReply facts_;
  bool ready_ = false;
  bool has_parts_ = false;  // as far as we know
};

}  // namespace mayfly
