// Connection: one peer's SEQPACKET connection with JSON frames both ways (wire/frame.h). A peer that sends anything
// malformed is told and cut; one that does not read is cut when its outbox is full. Owner: front_end.h, operator.h.
#pragma once

#include <string>
#include <string_view>

#include "jail/supervisor/outbox.h"
#include "jail/supervisor/watched.h"
#include "jail/wire/frame.h"

namespace mayfly {

class ConnectionEvents {
 public:
  virtual ~ConnectionEvents() = default;
  virtual Expected<void> frame_came(Frame frame) = 0;  // a Failure: this peer is told its text and cut
  virtual std::string fault_frame(const std::string& text) const = 0;
  virtual void connection_lost() = 0;  // once; nothing is sent or told after it
};

class Connection {
 public:
  Connection(EventLoop& loop, ConnectionEvents& events) : loop_(loop), events_(events) {}

  Expected<void> adopt(Fd socket);
  [[nodiscard]] bool is_open() const { return static_cast<bool>(socket_); }
  void send(std::string_view text);  // of one frame
  void cut();                        // closes without a word; connection_lost() is not called

 private:
  void on_event(std::uint32_t what);
  bool take_one();
  void lose();

  EventLoop& loop_;
  ConnectionEvents& events_;
  Watched socket_;
  Outbox outbox_;
};

}  // namespace mayfly
