// SupervisorClient: a front end's connection to the supervisor, and the only jail code that front ends call.
//
//   auto client = TRY(SupervisorClient::adopt(std::move(lease_fd)));
//   auto run = TRY(client.open(request_with(payload), StreamsOf{...}));
//   ... poll client.descriptor(); client.receive() gives one message or nothing ...
//
// Non-blocking; no thread, no loop of its own: the front end polls descriptor() for reading. Owner: the front end.
// When it is destroyed every run of it ends (the connection is the right).
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jail/wire/lease.h"

namespace mayfly {

// Collects the large bytes of a request into one sealed memfd, and their places into Request::payload.
class PayloadBuilder {
 public:
  void add(PayloadKind kind, std::string_view bytes, std::string name = {}, bool executable = false);
  // Moves the parts into `request` and returns the memfd; an empty Fd when there is nothing.
  Expected<Fd> seal_into(Request& request);

 private:
  std::string bytes_;
  std::vector<PayloadPart> parts_;
};

// The peer's descriptors of one run. The client closes its copies once they are sent. Pipes or Unix stream sockets:
// the relay refuses anything else, because it makes them non-blocking.
struct PeerEnds {
  Fd out;  // write side
  Fd err;  // write side; none with a terminal
  Fd in;   // read side; none: stdin is at its end
};
// The front end's sides of the same.
struct OwnEnds {
  Fd out, err, in;
};
enum class WithStderr : bool { No, Yes };
enum class WithStdin : bool { No, Yes };
struct RunStreams {
  PeerEnds peer;
  OwnEnds own;  // non-blocking
};
Expected<RunStreams> make_run_streams(WithStderr with_stderr, WithStdin with_stdin);

class SupervisorClient {
 public:
  static Expected<SupervisorClient> connect(const std::string& lease_path);
  static Expected<SupervisorClient> adopt(Fd connected);

  [[nodiscard]] int descriptor() const { return socket_.get(); }

  Expected<RunNumber> open(Request request, PayloadBuilder payload, PeerEnds ends);
  Expected<void> cancel(RunNumber run, Ending why);
  Expected<void> signal(RunNumber run, int signal_number);
  Expected<void> resize(RunNumber run, TerminalSize size);
  Expected<void> ask_host();
  // Before the first run: asks and waits for the answer, `most` at the longest (ETIMEDOUT).
  Expected<LoginJudged> log_in(const LogIn& login, Milliseconds most);

  // A supervisor that does not read for a while is waited for: what could not be sent is kept (up to a bound) and goes
  // out, in order, with flush() or receive() once the descriptor is writable.
  [[nodiscard]] bool wants_write() const { return !unsent_.empty(); }
  Expected<void> flush();

  // One message that is waiting, or nullopt when none is. A Failure means that the supervisor is gone (EPIPE) or
  // spoke nonsense: the connection is of no more use, and every run of it is over.
  Expected<std::optional<FromSupervisor>> receive();

 private:
  explicit SupervisorClient(Fd socket) : socket_(std::move(socket)) {}
  Expected<void> send(const FromFrontEnd& message, std::span<const int> fds);
  // What Running told, and Ended does not repeat, becomes a part of the result again.
  Expected<void> complete(FromSupervisor& message);

  Fd socket_;
  RunNumber next_run_ = 1;
  std::map<RunNumber, Running> running_;
  struct Unsent {
    std::string text;
    std::vector<Fd> fds;
  };
  std::deque<Unsent> unsent_;
};

}  // namespace mayfly
