// WitnessLink: the supervisor's line to the witness template, which forks one relay per RelayOrder and answers
// nothing. Live relays do not depend on it. A template that dies is replaced by the keeper (adopt() again).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "jail/supervisor/outbox.h"
#include "jail/supervisor/watched.h"
#include "jail/wire/relay.h"

namespace mayfly {

class WitnessLink {
 public:
  WitnessLink(EventLoop& loop, std::function<void()> arrived) : loop_(loop), arrived_(std::move(arrived)) {}

  Expected<void> adopt(Fd socket);
  [[nodiscard]] bool is_ready() const { return static_cast<bool>(socket_); }
  // `fds` in the order of wire/relay.h, all of them given away. An order that is lost with the template shows at
  // the relay's control socket: it closes.
  Expected<void> send(const RelayOrder& order, std::span<const int> fds, std::vector<Fd> given);

 private:
  void on_event(std::uint32_t what);
  void lose(const char* why);

  EventLoop& loop_;
  std::function<void()> arrived_;
  Watched socket_;
  Outbox orders_;
};

}  // namespace mayfly
