// RelayLink: the supervisor's line to the relay of one jail. Messages: wire/relay.h. Owner: the jail.
// Resizes are coalesced and signals dropped when the relay is behind: a peer that floods us costs nothing.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "jail/spec/request.h"
#include "jail/supervisor/outbox.h"
#include "jail/supervisor/watched.h"
#include "jail/wire/relay.h"

namespace mayfly {

class RelayEvents {
 public:
  virtual ~RelayEvents() = default;
  virtual void relay_says(const RelayReport& report) = 0;
  virtual void relay_gone() = 0;
};

class RelayLink {
 public:
  RelayLink(EventLoop& loop, RelayEvents& events) : loop_(loop), events_(events) {}

  Expected<void> adopt(Fd control);
  [[nodiscard]] bool is_open() const { return static_cast<bool>(control_); }

  // Each of these is lost, and relay_gone() follows, when the relay is dead.
  void attach(int pidfd, int kill_fd, std::string_view kill_text);  // borrowed; sent at once
  void opened();
  void resize(TerminalSize size);
  void signal(int number);
  void drain();
  void finish(std::string_view last_line);

  // Takes what has arrived and not been told yet: before judging a death that the relay may have caused.
  void catch_up();

 private:
  void send(const RelayMessage& message, std::span<const int> fds = {});
  void on_event(std::uint32_t what);
  bool take_one();
  void lose();

  EventLoop& loop_;
  RelayEvents& events_;
  Watched control_;
  Outbox outbox_;
  std::optional<TerminalSize> newest_size_;
};

}  // namespace mayfly
