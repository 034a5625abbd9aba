// Outlet and Inlet: the bytes of one channel, each way, with back-pressure and a fixed amount of memory.
// Nothing is read that cannot be passed on: an outlet takes from the jail only what the peer's window has room for, and
// nothing while libssh still holds bytes; an inlet leaves to libssh what the jail does not take, which keeps our window
// shut. Owner: Channel.
#pragma once

#include <string>

#include "jail/os/fd.h"
#include "sshd/session/channel_port.h"

namespace mayfly {

// From one stream of the jail to the peer. Our own words (say) go the same way, in order.
class Outlet {
 public:
  explicit Outlet(Stream stream) : stream_(stream) {}

  void connect(Fd source) { source_ = std::move(source); }
  void say(std::string_view text) { held_ += text; }

  // Whether its source may be read now: exactly then pump() would read it.
  [[nodiscard]] bool wants_source(const ChannelPort& port, const Transport& transport) const;
  [[nodiscard]] int descriptor() const { return source_.get(); }
  [[nodiscard]] bool is_done() const { return !source_ && held_.empty(); }
  [[nodiscard]] std::uint64_t from_jail() const { return from_jail_; }  // bytes read from the jail's stream
  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }  // bytes handed to libssh

  void pump(ChannelPort& port, const Transport& transport);
  void drop_source() { source_.reset(); }
  void drop_all();

 private:
  bool hand_over(ChannelPort& port);
  bool read_and_pass(ChannelPort& port);

  Stream stream_;
  Fd source_;
  std::string held_;  // taken from the source or said, and not accepted by libssh yet
  std::uint64_t from_jail_ = 0;
  std::uint64_t delivered_ = 0;
};

// From the peer to the jail's stdin. Once the jail has closed it, the rest is thrown away: a program that does not read
// must not hang its peer.
class Inlet final : public StdinSink {
 public:
  void connect(Fd sink) { sink_ = std::move(sink); }

  std::size_t take(std::string_view bytes) override;
  [[nodiscard]] bool wants_sink(const ChannelPort& port) const;
  [[nodiscard]] int descriptor() const { return sink_.get(); }
  void pump(ChannelPort& port);  // passes on what libssh held, and the end of input after it
  void drop() { sink_.reset(); }
  [[nodiscard]] std::uint64_t delivered() const { return delivered_; }  // bytes that went into the jail's pipe

 private:
  std::size_t pass(std::string_view bytes);
  bool pass_held();

  Fd sink_;
  std::string held_;        // taken from libssh: at most one window
  std::size_t passed_ = 0;  // how much of it the pipe has
  std::uint64_t delivered_ = 0;
};

}  // namespace mayfly
