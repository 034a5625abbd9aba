#include "jail/supervisor/relay_link.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "jail/os/child.h"
#include "jail/os/unix_socket.h"
#include "jail/supervisor/fixed_message.h"
#include "jail/supervisor/timers.h"

namespace mayfly {

namespace {
constexpr std::size_t kMaxBehind = 64u << 10;  // a few commands; more means that the relay is stuck

template <std::size_t N>
void put_text(char (&into)[N], std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), N - 1), into);
}
}  // namespace

Expected<void> RelayLink::adopt(Fd control) {
  TRY(set_pass_credentials(control.get()));
  control_ = TRY(Watched::make(loop_, std::move(control), EPOLLIN, [this](std::uint32_t what) { on_event(what); }));
  outbox_ = Outbox(loop_, control_.get(), kMaxBehind);
  return {};
}

void RelayLink::attach(int pidfd, int kill_fd, std::string_view kill_text) {
  RelayMessage message;
  message.command = RelayCommand::Attach;
  std::array<int, 2> fds{pidfd, kill_fd};
  if (kill_fd >= 0) {
    message.has_kill = 1;
    put_text(message.kill_text, kill_text);
  }
  send(message, std::span(fds).first(kill_fd >= 0 ? 2 : 1));
  attached_ = true;
}

void RelayLink::opened() {
  RelayMessage message;
  message.command = RelayCommand::Opened;
  send(message);
}

void RelayLink::resize(TerminalSize size) {
  if (!outbox_.empty()) {
    newest_size_ = size;
    return;
  }
  RelayMessage message;
  message.command = RelayCommand::Resize;
  message.columns = size.columns;
  message.rows = size.rows;
  send(message);
}

void RelayLink::signal(int number) {
  if (!outbox_.empty()) return;
  RelayMessage message;
  message.command = RelayCommand::Signal;
  message.signal_number = number;
  send(message);
}

void RelayLink::drain() {
  RelayMessage message;
  message.command = RelayCommand::Drain;
  send(message);
}

void RelayLink::finish(std::string_view last_line) {
  RelayMessage message;
  message.command = RelayCommand::Finish;
  put_text(message.text, last_line);
  send(message);
}

// A failed send is not told from here: the end of file that comes with it is, from the loop.
void RelayLink::send(const RelayMessage& message, std::span<const int> fds) {
  if (control_) (void)outbox_.send(bytes_of(message), fds, {});
}

void RelayLink::on_event(std::uint32_t what) {
  if ((what & EPOLLOUT) != 0) {
    (void)outbox_.flush();
    if (outbox_.empty() && newest_size_) resize(*std::exchange(newest_size_, std::nullopt));
  }
  if ((what & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) take_one();
}

void RelayLink::catch_up() {
  for (int i = 0; i < kFramesPerTurn && control_; ++i)
    if (!take_one()) return;
}

bool RelayLink::take_one() {
  Expected<Received> received = receive_message(control_.get(), sizeof(RelayReport), 0);
  if (!received && received.error().error == EAGAIN) return false;
  RelayReport report;
  if (!received || received->closed || !unpack_report(received->bytes, report)) {
    lose();
    return false;
  }
  if (!knows_process_) watch_process(received->sender);
  events_.relay_says(report);
  return true;
}

// Without a descriptor left its end is believed, as that of one that never spoke.
void RelayLink::watch_process(pid_t pid) {
  knows_process_ = true;
  Expected<Fd> process = open_process_(pid);
  if (!process) return;
  auto watched = Watched::make(loop_, std::move(*process), EPOLLIN, [this](std::uint32_t) {
    process_.reset();
    events_.relay_dead();
  });
  if (watched) process_ = std::move(*watched);
}

void RelayLink::kill() const {
  if (process_) (void)signal_pidfd(process_.fd(), SIGKILL);
}

void RelayLink::lose() {
  control_.reset();
  events_.relay_gone();
}

}  // namespace mayfly
