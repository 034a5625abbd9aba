#include "tests/bench/resident_run.h"

#include <poll.h>

#include <array>
#include <cerrno>

#include "jail/os/clock.h"

namespace mayfly::bench {

namespace {

struct Started {
  RunNumber run;
  OwnEnds ends;
};

Expected<Started> start(SupervisorClient& client, const Order& order) {
  Request request;
  request.origin = OriginKind::Cli;
  request.principal = "bench";
  PayloadBuilder payload;
  for (const std::string& word : order.argv) payload.add(PayloadKind::Argument, word);
  if (!order.program.empty()) payload.add(PayloadKind::File, order.program, "program", true);
  RunStreams streams = TRY(make_run_streams(WithStderr::Yes, WithStdin::No));
  const RunNumber run = TRY(client.open(std::move(request), std::move(payload), std::move(streams.peer)));
  return Started{run, std::move(streams.own)};
}

// Reads what is there; resets the descriptor at its end.
void drain(Fd& fd, std::string* into) {
  std::array<char, 65536> buffer;
  while (fd) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count > 0) {
      if (into) into->append(buffer.data(), static_cast<std::size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    fd.reset();
  }
}

int status_of(const Result& result) {
  if (result.ending == Ending::Exited) return result.exit_code.value_or(125);
  if (result.ending == Ending::Signalled) return 128 + result.signal_number.value_or(0);
  return reserved_exit_status(result.ending).value_or(125);
}

Expected<void> await_any(SupervisorClient& client, const OwnEnds& ends) {
  std::array<pollfd, 3> entries = {pollfd{client.descriptor(), POLLIN, 0}, pollfd{ends.out.get(), POLLIN, 0},
                                   pollfd{ends.err.get(), POLLIN, 0}};
  const int ready = ::poll(entries.data(), entries.size(), 120'000);
  if (ready == 0) return failure("await the end of a run", ETIMEDOUT);
  if (ready < 0 && errno != EINTR) return failure("await the end of a run", errno);
  return {};
}

}  // namespace

Expected<Timed> run_once(SupervisorClient& client, const Order& order) {
  const Microseconds begin = monotonic_now();
  Started started = TRY(start(client, order));
  Timed timed;
  bool ended = false;
  while (!ended || started.ends.out || started.ends.err) {
    while (const auto message = TRY(client.receive())) {
      if (const auto* refused = std::get_if<Refused>(&*message))
        return failure("run a jail", 0, refused->field, refused->text);
      if (const auto* fault = std::get_if<Fault>(&*message)) return failure("run a jail", 0, "", fault->text);
      if (const auto* last = std::get_if<Ended>(&*message)) {
        timed.result = last->result;
        ended = true;
      }
    }
    drain(started.ends.out, &timed.out);
    drain(started.ends.err, nullptr);
    if (!ended || started.ends.out || started.ends.err) TRY(await_any(client, started.ends));
  }
  timed.time = monotonic_now() - begin;
  timed.status = status_of(timed.result);
  return timed;
}

Expected<Held> hold_one(SupervisorClient& client, const Order& order) {
  Started started = TRY(start(client, order));
  for (;;) {
    while (const auto message = TRY(client.receive())) {
      if (const auto* refused = std::get_if<Refused>(&*message))
        return failure("hold a jail", 0, refused->field, refused->text);
      if (const auto* ended = std::get_if<Ended>(&*message); ended && ended->run == started.run)
        return failure("hold a jail", 0, "", "it ended at once: " + reason_line(ended->result));
      if (const auto* running = std::get_if<Running>(&*message); running && running->run == started.run)
        return Held{started.run, std::move(started.ends)};
    }
    pollfd entry{client.descriptor(), POLLIN, 0};
    if (::poll(&entry, 1, 60'000) == 0) return failure("hold a jail", ETIMEDOUT);
  }
}

}  // namespace mayfly::bench
