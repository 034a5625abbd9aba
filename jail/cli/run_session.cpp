#include "jail/cli/run_session.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "jail/cli/byte_copy.h"
#include "jail/cli/terminal_mode.h"
#include "jail/os/clock.h"

namespace mayfly {

namespace {

// timeout(1) signals the process and then its whole group: one request, delivered twice.
constexpr Milliseconds kSameRequest = 500_ms;

constexpr int kHandled[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP};

// While it lives the handled signals come by descriptor, and SIGPIPE is an errno.
class SignalWatch {
 public:
  static Expected<SignalWatch> start(Streams streams) {
    sigset_t set;
    ::sigemptyset(&set);
    for (const int number : kHandled)
      if (number != SIGTSTP || streams == Streams::Terminal) ::sigaddset(&set, number);
    SignalWatch watch;
    ::sigprocmask(SIG_BLOCK, &set, &watch.before_);
    watch.fd_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!watch.fd_) return failure("watch signals", errno);
    ::signal(SIGPIPE, SIG_IGN);
    return watch;
  }
  SignalWatch(SignalWatch&&) noexcept = default;
  SignalWatch& operator=(SignalWatch&&) = delete;
  ~SignalWatch() {
    if (fd_) ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  [[nodiscard]] int descriptor() const { return fd_.get(); }
  [[nodiscard]] std::optional<int> next() const {
    signalfd_siginfo info{};
    if (::read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
    return static_cast<int>(info.ssi_signo);
  }

 private:
  SignalWatch() = default;
  Fd fd_;
  sigset_t before_{};
};

class Session {
 public:
  Session(SupervisorClient& client, Streams streams, SignalWatch signals, OwnEnds own)
      : client_(client),
        streams_(streams),
        signals_(std::move(signals)),
        own_(std::move(own)),
        in_(STDIN_FILENO, own_.in.get()),
        out_(copy_of(own_.out.get(), STDOUT_FILENO, outcome_.captured.out)),
        err_(copy_of(own_.err.get(), STDERR_FILENO, outcome_.captured.err)) {}

  Expected<void> begin(Request request, PayloadBuilder payload, PeerEnds peer) {
    run_ = TRY(client_.open(std::move(request), std::move(payload), std::move(peer)));
    if (streams_ == Streams::Terminal) terminal_.emplace(TRY(RawTerminal::enter(STDIN_FILENO)));
    return {};
  }
  Expected<RunOutcome> loop();

 private:
  enum Entry : std::size_t { kClient, kSignals, kStdin, kIn, kOut, kStdout, kErr, kStderr, kEntries };

  ByteCopy copy_of(int from, int to, std::string& text) const {
    return streams_ == Streams::Captured ? ByteCopy(from, text) : ByteCopy(from, to);
  }
  [[nodiscard]] std::array<pollfd, kEntries> interests() const;
  Expected<void> turn();
  Expected<void> take_messages();
  void take_end(Ended ended);
  Expected<void> take_signals();
  Expected<void> on_signal(int number);
  [[nodiscard]] bool is_same_request(int number);
  void move_input(const std::array<pollfd, kEntries>& seen);
  void move_output(ByteCopy& copy, Fd& source, const pollfd& from, const pollfd& to);
  void be_stopped();
  [[nodiscard]] bool is_over() const;

  SupervisorClient& client_;
  Streams streams_;
  SignalWatch signals_;
  OwnEnds own_;
  RunOutcome outcome_;
  ByteCopy in_, out_, err_;
  std::optional<RawTerminal> terminal_;
  RunNumber run_ = 0;
  bool running_ = false, has_last_ = false, reader_gone_ = false;
  int asked_to_end_ = 0;
  int last_request_ = 0;
  Microseconds last_request_at_{0};
};

short when(bool wanted, short events) { return wanted ? events : short{0}; }

// A negative descriptor is skipped by poll(2).
std::array<pollfd, Session::kEntries> Session::interests() const {
  const bool reading = own_.in && in_.wants_source();
  const bool to_out = streams_ != Streams::Captured && out_.wants_sink();
  const bool to_err = streams_ != Streams::Captured && err_.wants_sink();
  const bool from_out = out_.wants_source() || out_.state() == ByteCopy::State::SinkGone;
  const bool from_err = err_.wants_source() || err_.state() == ByteCopy::State::SinkGone;
  std::array<pollfd, kEntries> entries{};
  entries[kClient] = {has_last_ ? -1 : client_.descriptor(),
                      static_cast<short>(client_.wants_write() ? POLLIN | POLLOUT : POLLIN), 0};
  entries[kSignals] = {signals_.descriptor(), POLLIN, 0};
  entries[kStdin] = {reading ? STDIN_FILENO : -1, POLLIN, 0};
  entries[kIn] = {own_.in.get(), when(in_.wants_sink(), POLLOUT), 0};  // POLLERR: its reader is gone
  entries[kOut] = {from_out ? own_.out.get() : -1, POLLIN, 0};
  entries[kStdout] = {to_out ? STDOUT_FILENO : -1, POLLOUT, 0};
  entries[kErr] = {from_err ? own_.err.get() : -1, POLLIN, 0};
  entries[kStderr] = {to_err ? STDERR_FILENO : -1, POLLOUT, 0};
  return entries;
}

bool is_broken(const ByteCopy& copy) { return copy.state() == ByteCopy::State::Broken; }

Expected<void> Session::turn() {
  std::array<pollfd, kEntries> seen = interests();
  if (::poll(seen.data(), seen.size(), -1) < 0) {
    if (errno == EINTR) return {};
    return failure("wait for the run", errno);
  }
  if (seen[kSignals].revents != 0) TRY(take_signals());
  move_input(seen);
  move_output(out_, own_.out, seen[kOut], seen[kStdout]);
  move_output(err_, own_.err, seen[kErr], seen[kStderr]);
  if (seen[kClient].revents != 0) TRY(take_messages());
  if (is_broken(out_)) return failure("write standard output", out_.error());
  if (is_broken(err_)) return failure("write standard error", err_.error());
  return {};
}

void Session::move_input(const std::array<pollfd, kEntries>& seen) {
  if (!own_.in) return;
  if ((seen[kIn].revents & (POLLERR | POLLHUP)) != 0)
    in_.sink_gone();
  else if ((seen[kIn].revents & POLLOUT) != 0)
    in_.sink_ready();
  if (seen[kStdin].revents != 0 && in_.wants_source()) in_.source_ready();
  // Our end of its stdin closes as soon as ours is at its end (half-close), or when the program does not want it.
  if (in_.state() != ByteCopy::State::Open) own_.in.reset();
}

void Session::move_output(ByteCopy& copy, Fd& source, const pollfd& from, const pollfd& to) {
  if ((to.revents & POLLERR) != 0)
    copy.sink_gone();
  else if (to.revents != 0 && copy.wants_sink())
    copy.sink_ready();
  running_ = running_ || (from.revents & POLLIN) != 0;  // Running itself may come a moment later
  if (from.revents != 0) copy.source_ready();
  if (copy.state() == ByteCopy::State::SinkGone && source) {
    source.reset();  // the relay meets EPIPE, as the program would have
    if (&copy == &out_) reader_gone_ = true;
  }
}

Expected<void> Session::take_messages() {
  for (int most = 0; most < 64; ++most) {  // the rest waits for the next turn
    std::optional<FromSupervisor> message = TRY(client_.receive());
    if (!message) return {};
    if (std::holds_alternative<Running>(*message)) running_ = true;
    if (const auto* fault = std::get_if<Fault>(&*message)) return failure("talk to the supervisor", 0, {}, fault->text);
    if (auto* ended = std::get_if<Ended>(&*message)) {
      take_end(std::move(*ended));
      return {};
    }
    if (auto* refused = std::get_if<Refused>(&*message)) {
      outcome_.last = std::move(*refused);
      has_last_ = true;
      return {};
    }
  }
  return {};
}

// `mayfly run -- yes | head -1` must end as quietly as `yes | head -1`: the relay's reason line, which comes last, is
// kept back.
void Session::take_end(Ended ended) {
  outcome_.quiet = reader_gone_ && ended.result.signal_number == SIGPIPE;
  outcome_.last = std::move(ended);
  has_last_ = true;
  if (outcome_.quiet && streams_ == Streams::Through) err_.divert(outcome_.captured.err);
}

Expected<void> Session::take_signals() {
  for (int most = 0; most < 64; ++most) {
    const std::optional<int> number = signals_.next();
    if (!number) return {};
    TRY(on_signal(*number));
  }
  return {};
}

Expected<void> Session::on_signal(int number) {
  if (number == SIGWINCH) {
    if (streams_ == Streams::Terminal && !has_last_) return client_.resize(run_, terminal_size(STDIN_FILENO));
    return {};
  }
  if (number == SIGTSTP) {
    be_stopped();
    return {};
  }
  const bool is_word = number == SIGUSR1 || number == SIGUSR2;
  if (!is_word && is_same_request(number)) return {};
  if (!is_word) ++asked_to_end_;
  if (has_last_ || asked_to_end_ > 2) {
    outcome_.gave_up = !is_word;
    return {};
  }
  if (number == SIGHUP) return client_.cancel(run_, Ending::Disconnected);
  // In a terminal the keys come as bytes: a signal to us is from somebody else, who means us.
  const bool for_program = running_ && streams_ != Streams::Terminal && asked_to_end_ < 2;
  if (is_word || for_program) return client_.signal(run_, number);  // nothing happens before the gate is open
  return client_.cancel(run_, Ending::Cancelled);
}

bool Session::is_same_request(int number) {
  const Microseconds now = monotonic_now();
  const bool is_same = number == last_request_ && now - last_request_at_ < kSameRequest;
  if (!is_same) last_request_at_ = now;
  last_request_ = number;
  return is_same;
}

void Session::be_stopped() {
  if (terminal_) terminal_->suspend();
  ::kill(::getpid(), SIGSTOP);
  if (terminal_) terminal_->resume();  // continued
  (void)client_.resize(run_, terminal_size(STDIN_FILENO));
}

bool Session::is_over() const {
  if (outcome_.gave_up) return true;
  if (!has_last_) return false;
  if (std::holds_alternative<Refused>(outcome_.last)) return true;
  const auto done = [](const ByteCopy& copy, const Fd& source) {
    return !source || copy.state() != ByteCopy::State::Open;
  };
  return done(out_, own_.out) && done(err_, own_.err);
}

Expected<RunOutcome> Session::loop() {
  while (!is_over()) TRY(turn());
  if (const auto* ended = std::get_if<Ended>(&outcome_.last); ended != nullptr && has_last_) {
    const std::string line = reason_line(ended->result);
    outcome_.reason_seen =
        out_.tail().find(line) != std::string_view::npos || err_.tail().find(line) != std::string_view::npos;
  }
  terminal_.reset();
  return std::move(outcome_);
}

}  // namespace

Expected<RunOutcome> run_session(SupervisorClient& client, Request request, PayloadBuilder payload, Streams streams) {
  SignalWatch signals = TRY(SignalWatch::start(streams));
  const bool has_stdin = ::fcntl(STDIN_FILENO, F_GETFD) >= 0;
  RunStreams ends = TRY(make_run_streams(streams == Streams::Terminal ? WithStderr::No : WithStderr::Yes,
                                         has_stdin ? WithStdin::Yes : WithStdin::No));
  Session session(client, streams, std::move(signals), std::move(ends.own));
  TRY(session.begin(std::move(request), std::move(payload), std::move(ends.peer)));
  return session.loop();
}

}  // namespace mayfly
