// ChannelPort: libssh's side of one session channel. Its callbacks only note what the peer wants; Channel acts on it
// once libssh has returned (the reply to a request is sent after the callback: what is written inside precedes it).
//
// Owner: Channel. The callback struct lives in here, so a port is destroyed only after detach(), and detach() comes
// only when both sides have closed: libssh keeps using a freed channel until the peer's CLOSE.
#pragma once

#include <libssh/callbacks.h>

#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "jail/spec/request.h"
#include "sshd/session/transport.h"

namespace mayfly {

enum class Start : unsigned char { Shell, Command };
enum class Stream : unsigned char { Out, Err };

// What the peer asked for since it was last looked at. Repeated wishes overwrite each other: a storm costs one.
struct Wishes {
  std::optional<TerminalRequest> terminal;  // pty-req, before the start
  std::optional<Start> start;
  std::string command;  // of Start::Command
  std::optional<TerminalSize> resize;
  std::bitset<65> signals;  // by number
};

// Takes stdin as it arrives, straight out of libssh's buffer.
class StdinSink {
 public:
  virtual std::size_t take(std::string_view bytes) = 0;  // how many it took; the rest stays with libssh

 protected:
  ~StdinSink() = default;
};

// RFC 4254 6.9 names these; TSTP and CONT are what a shell's job control adds. Anything else is not passed on.
std::optional<int> signal_wished(std::string_view name_without_sig);
TerminalSize clamp_size(int columns, int rows);  // 1..1000 each; 0 means unknown: 80 and 24

class ChannelPort {
 public:
  static std::unique_ptr<ChannelPort> open(Transport& transport);  // null: libssh has no memory

  [[nodiscard]] ssh_channel channel() const { return channel_; }
  [[nodiscard]] Wishes& wishes() { return wishes_; }
  [[nodiscard]] bool has_started() const { return started_; }
  [[nodiscard]] bool peer_ended_input() const { return peer_eof_; }
  [[nodiscard]] bool peer_closed() const { return peer_closed_; }
  [[nodiscard]] bool flooded() const { return flooded_; }  // the peer ignores our window
  [[nodiscard]] bool window_shrank() const { return window_shrank_; }

  void attach(StdinSink* sink) { sink_ = sink; }  // null: keep it with libssh
  [[nodiscard]] std::size_t unread() const { return unread_; }
  // All of it at once, and not piece by piece: libssh opens the window anew at every read, however much it still holds,
  // so that a slow jail would make its buffer grow without end. So it never holds more than one window.
  std::string take_unread();

  [[nodiscard]] std::uint32_t window() const;
  // How many bytes libssh took: fewer than given while keys are exchanged anew. Never more than window() at once.
  std::size_t write(Stream stream, std::string_view bytes);
  void judge_window();  // after each turn: a window that shrank by itself has overflowed

  void end_with_status(int status);  // EOF, exit-status, CLOSE
  void end_with_signal(const std::string& name_without_sig);
  void close();  // EOF, CLOSE
  void detach();

 private:
  explicit ChannelPort(Transport& transport) : transport_(transport) {}
  void set_callbacks();

  int on_terminal(const char* term, int columns, int rows);
  int on_start(Start start, const char* command);
  int on_data(const char* bytes, std::uint32_t count, bool extended);
  void on_signal(const char* name);
  void stir();

  Transport& transport_;
  ssh_channel channel_ = nullptr;
  ssh_channel_callbacks_struct callbacks_{};
  Wishes wishes_;
  StdinSink* sink_ = nullptr;
  std::size_t unread_ = 0;
  std::uint32_t least_window_ = 0;
  bool started_ = false;
  bool peer_eof_ = false;
  bool peer_closed_ = false;
  bool flooded_ = false;
  bool window_shrank_ = false;

  friend struct PortCallbacks;
};

}  // namespace mayfly
