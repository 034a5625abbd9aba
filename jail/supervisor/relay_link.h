// RelayLink: the supervisor's line to the relay of one jail, and its process, by the pid that the kernel gives with its
// first message (SCM_CREDENTIALS, unix(7)). Messages: wire/relay.h. Owner: the jail.
// Resizes are coalesced and signals dropped when the relay is behind: a peer that floods us costs nothing.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "jail/spec/request.h"
#include "jail/supervisor/outbox.h"
#include "jail/supervisor/surroundings.h"
#include "jail/supervisor/watched.h"
#include "jail/wire/relay.h"

namespace mayfly {

class RelayEvents {
 public:
  virtual ~RelayEvents() = default;
  virtual void relay_says(const RelayReport& report) = 0;
  virtual void relay_gone() = 0;  // it has closed its line
  virtual void relay_dead() = 0;  // its process has ended; of one that never spoke nobody knows
};

class RelayLink {
 public:
  RelayLink(EventLoop& loop, RelayEvents& events, const ProcessOpener& open_process)
      : loop_(loop), events_(events), open_process_(open_process) {}

  Expected<void> adopt(Fd control);
  [[nodiscard]] bool is_open() const { return static_cast<bool>(control_); }
  // It sees pid 1 die by itself, and drains then.
  [[nodiscard]] bool sees_death() const { return attached_; }

  [[nodiscard]] bool lives() const { return static_cast<bool>(process_); }
  void kill() const;

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
  void watch_process(pid_t pid);
  void lose();

  EventLoop& loop_;
  RelayEvents& events_;
  const ProcessOpener& open_process_;
  Watched control_, process_;
  Outbox outbox_;
  std::optional<TerminalSize> newest_size_;
  bool attached_ = false, knows_process_ = false;
};

}  // namespace mayfly
