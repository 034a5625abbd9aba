// What the supervisor orders a relay to do, and what time brings.
#include <sched.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "jail/os/clock.h"
#include "jail/witness/relay.h"

namespace mayfly {

void Relay::take_commands() {
  // Many resizes in a row become one: a client that drags its window must not keep the jail busy with SIGWINCH.
  constexpr int kResizesAtOnce = 64;
  for (int i = 0; i < kResizesAtOnce; ++i) {
    FdList fds;
    const Arrival arrival = receive_fixed(control_.get(), &message_, sizeof message_, fds);
    if (arrival == Arrival::Nothing) break;
    if (arrival == Arrival::Closed && stage_ == Stage::Delivering) {
      control_.reset();  // nobody waits for our last word; the peer still gets its bytes
      break;
    }
    if (arrival != Arrival::Message || !obey(message_, fds)) {
      if (arrival != Arrival::Closed) reporter_.say(RelaySays::Broken, EPROTO, "a command that is not in the contract");
      return die();
    }
    if (message_.command != RelayCommand::Resize) break;
  }
  resize();
}

// False: the supervisor speaks another language than we do.
bool Relay::obey(const RelayMessage& message, FdList& fds) {
  if (message.command == RelayCommand::Attach) return arm(message, fds);
  if (fds.count != 0) return false;
  switch (message.command) {
    case RelayCommand::Opened:
      open_gate();
      return true;
    case RelayCommand::Resize:
      columns_ = message.columns;
      rows_ = message.rows;
      return true;
    case RelayCommand::Signal:
      send_signal(message.signal_number);
      return true;
    case RelayCommand::Drain:
      drain();
      return true;
    case RelayCommand::Finish:
      finish({message.text, ::strnlen(message.text, sizeof message.text)});
      return true;
    case RelayCommand::Attach:
      break;
  }
  return false;
}

bool Relay::arm(const RelayMessage& message, FdList& fds) {
  const std::size_t length = ::strnlen(message.kill_text, sizeof message.kill_text);
  if (message.has_kill > 1 || fds.count != 1 + message.has_kill || length == sizeof message.kill_text) return false;
  std::memcpy(kill_text_, message.kill_text, sizeof kill_text_);
  kill_ = KillSwitch{std::move(fds.fds[0]), std::move(fds.fds[1]), {kill_text_, length}};
  return true;
}

// A supervisor that has just died may have said last what pid 1 is: that is still in the queue.
void Relay::arm_late() {
  constexpr int kLastWords = 256;
  for (int i = 0; i < kLastWords; ++i) {
    FdList fds;
    const Arrival arrival = receive_fixed(control_.get(), &message_, sizeof message_, fds);
    if (arrival == Arrival::Nothing || arrival == Arrival::Closed) return;
    if (arrival == Arrival::Message && message_.command == RelayCommand::Attach) static_cast<void>(arm(message_, fds));
  }
}

void Relay::open_gate() {
  if (stage_ != Stage::Live || opened_) return;
  opened_ = true;
  const auto from_now = [this](std::uint64_t ms) { return now_ + Milliseconds{static_cast<std::int64_t>(ms)}; };
  backup_at_ = from_now(order_.wall_ms) + kWallBackup;
  if (order_.idle_ms > 0) idle_at_ = from_now(order_.idle_ms);
}

void Relay::resize() {
  const int master = outs_[0].source();
  if (order_.terminal == 0 || master < 0 || columns_ == 0 || rows_ == 0) return;
  const winsize size{rows_, columns_, 0, 0};
  ::ioctl(master, TIOCSWINSZ, &size);  // fails only on what is no terminal
  columns_ = rows_ = 0;
}

void Relay::send_signal(int number) const {
  const bool allowed = number == SIGINT || number == SIGQUIT || number == SIGTSTP;
  if (order_.terminal == 1 && allowed && outs_[0].source() >= 0) ::ioctl(outs_[0].source(), TIOCSIG, number);
}

// Pid 1 is dead, so what its jail's pipes hold is all that there will be; at most a pipe's size each, into memory.
void Relay::drain() {
  if (stage_ != Stage::Live) return;
  if (stream_) take_streams();
  in_.close_jail_side();
  const Microseconds limit = monotonic_now() + kDrainLimit;
  Reached reached = drain_once();
  while (reached == Reached::Later) {
    const Microseconds left = limit - monotonic_now();
    if (left <= Microseconds{0}) break;
    PollSet held;
    for (OutStream& out : outs()) held.add(out.source(), POLLIN);
    held.wait(static_cast<int>(std::chrono::ceil<Milliseconds>(left).count()));
    reached = drain_once();
  }
  memory_.report.incomplete = reached == Reached::End ? 0 : 1;
  for (OutStream& out : outs()) out.close_source();
  stream_.reset();
  kill_ = KillSwitch{};
  idle_at_ = backup_at_ = InStream::kNever;
  outs_[0].totals(memory_.report.out);
  outs_[1].totals(memory_.report.err);
  stage_ = Stage::Drained;
  reporter_.say(RelaySays::Drained);
}

// The worst that any stream answers.
Reached Relay::drain_once() {
  Reached worst = Reached::End;
  for (OutStream& out : outs()) {
    const Reached reached = out.drain(budget_);
    if (reached == Reached::Full || worst == Reached::End) worst = reached;
  }
  return worst;
}

// Where no line of ours can follow, the end of what is delivered need not wait for the result.
void Relay::end_complete_streams() {
  if (order_.last_line == 1) return;
  for (OutStream& out : outs_)
    if (out.delivered()) out.end_sink();
}

void Relay::finish(std::string_view text) {
  if (stage_ == Stage::Delivering) return;
  // Finish without Drain: a jail that was never built. There is nothing to hand out but our line.
  for (OutStream& out : outs()) out.close_source();
  in_.close_jail_side();
  in_.close_peer_side();
  stream_.reset();
  idle_at_ = backup_at_ = InStream::kNever;
  const bool terminal = order_.terminal == 1;
  outs_[terminal ? 0 : 1].append_line(text, terminal ? "\r\n" : "\n");
  stage_ = Stage::Delivering;
  stall_at_ = now_ + kDeliverStall;
}

// Over when nothing is left, or nobody takes it.
void Relay::deliver() {
  const bool all = outs_[0].delivered() && outs_[1].delivered();
  const bool stalled = now_ >= stall_at_;
  if (!all && !stalled) return;
  const int error = stalled && !all ? ETIMEDOUT : every_sink_gone() ? EPIPE : 0;
  for (OutStream& out : outs_) out.end_sink();
  if (control_) reporter_.say(RelaySays::Delivered, error);
  stage_ = Stage::Over;
  ::sched_yield();  // whoever waited for these streams goes on before the kernel takes this process apart
}

void Relay::keep_time() {
  if (stage_ == Stage::Drained) return end_complete_streams();
  if (stage_ == Stage::Delivering) return deliver();
  if (stage_ != Stage::Live) return;
  in_.tick(now_);
  if (now_ >= idle_at_) {
    idle_at_ = InStream::kNever;
    reporter_.say(RelaySays::Idle);
  }
  if (now_ >= backup_at_) {
    backup_at_ = InStream::kNever;
    reporter_.say(RelaySays::Backup, kill_.pull());
  }
}

}  // namespace mayfly
