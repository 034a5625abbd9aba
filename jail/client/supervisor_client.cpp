#include "jail/client/supervisor_client.h"

#include <fcntl.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <utility>

#include "jail/os/clock.h"
#include "jail/os/unix_socket.h"

namespace mayfly {

namespace {

struct Pipe {
  Fd read, write;
};

Expected<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return failure("make pipe", errno);
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

// Not ETOOMANYREFS: the socket stays writable then, and who waits for room would spin.
bool is_full(const Failure& why) { return why.error == EAGAIN; }

}  // namespace

Expected<RunStreams> make_run_streams(WithStderr with_stderr, WithStdin with_stdin) {
  RunStreams streams;
  Pipe out = TRY(make_pipe());
  streams.peer.out = std::move(out.write);
  streams.own.out = std::move(out.read);
  if (with_stderr == WithStderr::Yes) {
    Pipe err = TRY(make_pipe());
    streams.peer.err = std::move(err.write);
    streams.own.err = std::move(err.read);
  }
  if (with_stdin == WithStdin::Yes) {
    Pipe in = TRY(make_pipe());
    streams.peer.in = std::move(in.read);
    streams.own.in = std::move(in.write);
  }
  return streams;
}

Expected<SupervisorClient> SupervisorClient::connect(const std::string& lease_path) {
  return adopt(TRY(connect_to(lease_path)));
}

Expected<SupervisorClient> SupervisorClient::adopt(Fd connected) {
  TRY(set_nonblocking(connected.get(), Blocking::No));
  return SupervisorClient(std::move(connected));
}

Expected<void> SupervisorClient::send(const FromFrontEnd& message, std::span<const int> fds) {
  TRY(flush());
  Unsent parcel{encode(message), {}};
  TRY(judge_frame(parcel.text));
  if (unsent_.empty()) {
    const auto sent = send_message(socket_.get(), std::as_bytes(std::span(parcel.text)), fds);
    if (sent || !is_full(sent.error())) return sent;
  }
  constexpr std::size_t kMostUnsent = 2048;
  if (unsent_.size() >= kMostUnsent) return failure("speak with the supervisor", ENOBUFS, "", "it does not read");
  for (const int fd : fds) {
    parcel.fds.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
    if (!parcel.fds.back()) return failure("keep descriptor for the supervisor", errno);
  }
  unsent_.push_back(std::move(parcel));
  return {};
}

Expected<void> SupervisorClient::flush() {
  while (!unsent_.empty()) {
    const Unsent& next = unsent_.front();
    std::vector<int> fds;
    for (const Fd& fd : next.fds) fds.push_back(fd.get());
    const auto sent = send_message(socket_.get(), std::as_bytes(std::span(next.text)), fds);
    if (!sent && is_full(sent.error())) return {};
    unsent_.pop_front();
    if (!sent) return sent;
  }
  return {};
}

Expected<RunNumber> SupervisorClient::open(Request request, PayloadBuilder payload, PeerEnds ends) {
  Open open;
  open.run = next_run_++;
  open.has_stdin = static_cast<bool>(ends.in);
  const Fd sealed = TRY(payload.seal_into(request));
  open.request = std::move(request);
  std::array<int, 4> fds{};
  std::size_t count = 0;
  for (const Fd* fd : {&std::as_const(ends.out), &std::as_const(ends.err), &std::as_const(ends.in), &sealed})
    if (*fd) fds[count++] = fd->get();
  TRY(send(FromFrontEnd(open), std::span(fds).first(count)));
  return open.run;
}

Expected<void> SupervisorClient::cancel(RunNumber run, Ending why) { return send(Cancel{run, why}, {}); }

Expected<void> SupervisorClient::signal(RunNumber run, int signal_number) {
  return send(SignalRun{run, signal_number}, {});
}

Expected<void> SupervisorClient::resize(RunNumber run, TerminalSize size) { return send(ResizeRun{run, size}, {}); }

Expected<void> SupervisorClient::ask_host() { return send(AskHost{}, {}); }

Expected<LoginJudged> SupervisorClient::log_in(const LogIn& login, Milliseconds most) {
  TRY(send(login, {}));
  const Microseconds until = monotonic_now() + most;
  for (;;) {
    auto message = TRY(receive());
    if (message) {
      if (auto* judged = std::get_if<LoginJudged>(&*message)) return std::move(*judged);
      return failure("log in", 0, {}, "the supervisor answered something else");
    }
    const auto left = std::chrono::ceil<Milliseconds>(until - monotonic_now()).count();
    if (left <= 0) return failure("log in", ETIMEDOUT);
    pollfd entry{socket_.get(), static_cast<short>(wants_write() ? POLLIN | POLLOUT : POLLIN), 0};
    if (::poll(&entry, 1, static_cast<int>(left)) < 0 && errno != EINTR) return failure("log in", errno);
  }
}

Expected<std::optional<FromSupervisor>> SupervisorClient::receive() {
  TRY(flush());
  auto frame = receive_frame(socket_.get());
  if (!frame) {
    if (frame.error().error == EAGAIN) return std::optional<FromSupervisor>();
    return tl::make_unexpected(frame.error());
  }
  if (frame->closed) return failure("hear from supervisor", EPIPE, "", "it has closed the connection");
  FromSupervisor message = TRY(decode_from_supervisor(frame->body));
  TRY(complete(message));
  return std::optional<FromSupervisor>(std::move(message));
}

Expected<void> SupervisorClient::complete(FromSupervisor& message) {
  if (const auto* running = std::get_if<Running>(&message)) running_[running->run] = *running;
  if (const auto* refused = std::get_if<Refused>(&message)) running_.erase(refused->run);
  auto* ended = std::get_if<Ended>(&message);
  if (!ended) return {};
  const auto told = running_.extract(ended->run);
  if (!ended->after_running) return {};
  if (!told) return failure("hear from supervisor", 0, "ended", "of a run that was never told to be running");
  ended->result.controls = told.mapped().controls;
  ended->result.limits = told.mapped().limits;
  return {};
}

}  // namespace mayfly
