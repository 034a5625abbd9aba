#include "sshd/session/channel_port.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "jail/spec/ending.h"
#include "jail/spec/resolve.h"

namespace mayfly {

namespace {

constexpr int kMostCells = 1000;
// libssh opens a window of 1 280 000 bytes and takes more "anyway". A peer that sends twice as much unasked is cut.
constexpr std::size_t kMostUnread = 2'560'000;
// Payload of an exec request without its text: type, channel, "exec" and its length, want-reply, length of the text.
constexpr std::uint64_t kExecRequestBytes = 1 + 4 + 4 + 4 + 1 + 4;
constexpr std::array kSignalsPassedOn = {SIGABRT, SIGALRM, SIGFPE,  SIGHUP,  SIGINT,  SIGKILL, SIGPIPE,
                                         SIGQUIT, SIGSEGV, SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

std::uint16_t clamp_cells(int count, int unknown) {
  if (count == 0) return static_cast<std::uint16_t>(unknown);
  // They arrive as int from uint32: a negative one was huge.
  return static_cast<std::uint16_t>(count < 0 ? kMostCells : std::min(count, kMostCells));
}

}  // namespace

std::optional<int> signal_wished(std::string_view name_without_sig) {
  const auto number = signal_number(name_without_sig);
  if (!number || std::find(kSignalsPassedOn.begin(), kSignalsPassedOn.end(), *number) == kSignalsPassedOn.end())
    return std::nullopt;
  return number;
}

TerminalSize clamp_size(int columns, int rows) { return {clamp_cells(columns, 80), clamp_cells(rows, 24)}; }

// The C side: each finds its port again and lets it note.
struct PortCallbacks {
  static ChannelPort& port(void* userdata) { return *static_cast<ChannelPort*>(userdata); }

  static int terminal(ssh_session, ssh_channel, const char* term, int columns, int rows, int, int, void* userdata) {
    return port(userdata).on_terminal(term, columns, rows);
  }
  static int resize(ssh_session, ssh_channel, int columns, int rows, int, int, void* userdata) {
    ChannelPort& self = port(userdata);
    self.wishes_.resize = clamp_size(columns, rows);
    self.stir();
    return 0;
  }
  static int shell(ssh_session, ssh_channel, void* userdata) { return port(userdata).on_start(Start::Shell, ""); }
  static int exec(ssh_session, ssh_channel, const char* command, void* userdata) {
    return port(userdata).on_start(Start::Command, command);
  }
  static int data(ssh_session, ssh_channel, void* bytes, std::uint32_t count, int extended, void* userdata) {
    return port(userdata).on_data(static_cast<const char*>(bytes), count, extended != 0);
  }
  static void signal(ssh_session, ssh_channel, const char* name, void* userdata) { port(userdata).on_signal(name); }
  static void eof(ssh_session, ssh_channel, void* userdata) {
    port(userdata).peer_eof_ = true;
    port(userdata).stir();
  }
  static void closed(ssh_session, ssh_channel, void* userdata) {
    port(userdata).peer_closed_ = true;
    port(userdata).stir();
  }
  // env is refused; it has a callback so that the count of arrived bytes is exact when the exec request follows.
  static int environment(ssh_session, ssh_channel, const char*, const char*, void* userdata) {
    port(userdata).stir();
    return 1;
  }
};

std::unique_ptr<ChannelPort> ChannelPort::open(Transport& transport) {
  std::unique_ptr<ChannelPort> port(new ChannelPort(transport));
  port->channel_ = ssh_channel_new(transport.session());
  if (port->channel_ == nullptr) return nullptr;
  port->set_callbacks();
  if (ssh_set_channel_callbacks(port->channel_, &port->callbacks_) == SSH_OK) return port;
  ssh_channel_free(port->channel_);
  return nullptr;
}

// x11 and agent stay unset: for libssh the callback's existence is a yes. subsystem unset: refused by default.
void ChannelPort::set_callbacks() {
  callbacks_.userdata = this;
  callbacks_.channel_pty_request_function = PortCallbacks::terminal;
  callbacks_.channel_pty_window_change_function = PortCallbacks::resize;
  callbacks_.channel_shell_request_function = PortCallbacks::shell;
  callbacks_.channel_exec_request_function = PortCallbacks::exec;
  callbacks_.channel_data_function = PortCallbacks::data;
  callbacks_.channel_signal_function = PortCallbacks::signal;
  callbacks_.channel_eof_function = PortCallbacks::eof;
  callbacks_.channel_close_function = PortCallbacks::closed;
  callbacks_.channel_env_request_function = PortCallbacks::environment;
  ssh_callbacks_init(&callbacks_);
}

void ChannelPort::stir() {
  (void)transport_.since_last_look();
  transport_.note_callback();
}

int ChannelPort::on_terminal(const char* term, int columns, int rows) {
  stir();
  if (started_ || wishes_.terminal) return 1;
  wishes_.terminal =
      TerminalRequest{clamp_size(columns, rows), is_terminfo_name(term) ? std::string(term) : std::string()};
  return 0;
}

int ChannelPort::on_start(Start start, const char* command) {
  const Arrived arrived = transport_.since_last_look();
  transport_.note_callback();
  if (started_) return 1;  // one channel, one jail
  const std::size_t length = std::strlen(command);
  // libssh hands out a C string, cut at its first NUL. Where this request was the only packet since the last look its
  // true length is known: half a command is refused, not run.
  if (start == Start::Command && arrived.packets == 1 && arrived.bytes != kExecRequestBytes + length) return 1;
  started_ = true;
  wishes_.start = start;
  wishes_.command.assign(command, length);
  return 0;
}

int ChannelPort::on_data(const char* bytes, std::uint32_t count, bool extended) {
  if (extended) return static_cast<int>(count);  // nothing that comes to us has a second stream
  const std::size_t taken = sink_ == nullptr ? 0 : sink_->take({bytes, count});
  unread_ = count - taken;
  if (unread_ != 0) transport_.note_callback();
  flooded_ = flooded_ || unread_ > kMostUnread;
  return static_cast<int>(taken);
}

void ChannelPort::on_signal(const char* name) {
  stir();
  if (const auto number = signal_wished(name)) wishes_.signals.set(static_cast<std::size_t>(*number));
}

std::string ChannelPort::take_unread() {
  std::string bytes(unread_, '\0');
  unread_ = 0;
  const int count =
      bytes.empty() ? 0
                    : ssh_channel_read_nonblocking(channel_, bytes.data(), static_cast<std::uint32_t>(bytes.size()), 0);
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

std::uint32_t ChannelPort::window() const { return ssh_channel_window_size(channel_); }

std::size_t ChannelPort::write(Stream stream, std::string_view bytes) {
  const auto length = static_cast<std::uint32_t>(bytes.size());
  const int written = stream == Stream::Out ? ssh_channel_write(channel_, bytes.data(), length)
                                            : ssh_channel_write_stderr(channel_, bytes.data(), length);
  if (written <= 0) return 0;
  least_window_ -= std::min(least_window_, static_cast<std::uint32_t>(written));
  return static_cast<std::size_t>(written);
}

void ChannelPort::judge_window() {
  const std::uint32_t now = window();
  window_shrank_ = window_shrank_ || now < least_window_;
  least_window_ = now;
}

void ChannelPort::end_with_status(int status) {
  ssh_channel_send_eof(channel_);
  ssh_channel_request_send_exit_status(channel_, status);
  ssh_channel_close(channel_);
}

void ChannelPort::end_with_signal(const std::string& name_without_sig) {
  ssh_channel_send_eof(channel_);
  ssh_channel_request_send_exit_signal(channel_, name_without_sig.c_str(), 0, "", "");
  ssh_channel_close(channel_);
}

void ChannelPort::close() {
  ssh_channel_send_eof(channel_);
  ssh_channel_close(channel_);
}

void ChannelPort::detach() {
  ssh_remove_channel_callbacks(channel_, &callbacks_);
  ssh_channel_free(channel_);
  channel_ = nullptr;
}

}  // namespace mayfly
