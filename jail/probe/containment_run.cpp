#include "jail/probe/containment_run.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include <fcntl.h>

#include "jail/os/child.h"
#include "jail/os/clock.h"
#include "jail/os/unix_socket.h"

namespace mayfly {
namespace {

constexpr Milliseconds kJailLimit = 30_s;     // from the request to the last byte
constexpr Milliseconds kOutsideLimit = 15_s;  // of the whole control run
constexpr std::size_t kMostOutput = 64 << 10;
constexpr const char* kInside = "/home/run/mayfly-probe";

int milliseconds_until(Microseconds deadline) {
  const auto left = std::chrono::duration_cast<Milliseconds>(deadline - monotonic_now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

// One read. False at the end of the stream; what is too much is read and dropped.
bool take_some(const Fd& stream, std::string& into) {
  std::array<char, 4096> part;
  const ssize_t count = ::read(stream.get(), part.data(), part.size());
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (into.size() < kMostOutput) into.append(part.data(), static_cast<std::size_t>(count));
  return count != 0;
}

Expected<RunNumber> open_run(SupervisorClient& client, const std::string& probe_bytes, const ProbeOrder& order,
                             PeerEnds ends) {
  Request request;
  request.profile = order.profile;
  request.principal = "uid " + std::to_string(::geteuid());
  request.limits = order.limits;
  request.label = "doctor";
  PayloadBuilder payload;
  payload.add(PayloadKind::Argument, kInside);
  for (const std::string& argument : order.arguments) payload.add(PayloadKind::Argument, argument);
  payload.add(PayloadKind::File, probe_bytes, "mayfly-probe", true);
  return client.open(std::move(request), std::move(payload), std::move(ends));
}

struct Progress {
  JailOutcome outcome;
  std::string out, err;
  bool ended = false, out_open = true, err_open = true;
  [[nodiscard]] bool is_whole() const { return ended && !out_open && !err_open; }
};

Expected<void> take_message(const FromSupervisor& message, Progress& progress) {
  if (const auto* ended = std::get_if<Ended>(&message)) {
    progress.outcome.controls = ended->result.controls;
    progress.outcome.result = ended->result;
    progress.ended = true;
  } else if (const auto* refused = std::get_if<Refused>(&message)) {
    return failure("get a jail to examine", 0, std::string(name(refused->kind)), refused->text);
  } else if (const auto* fault = std::get_if<Fault>(&message)) {
    return failure("talk to the supervisor", 0, {}, fault->text);
  }
  return {};
}

Expected<void> follow(SupervisorClient& client, const OwnEnds& own, Progress& progress) {
  const Microseconds deadline = monotonic_now() + kJailLimit;
  while (!progress.is_whole()) {
    std::array<pollfd, 3> waited{{{client.descriptor(), POLLIN, 0},
                                  {progress.out_open ? own.out.get() : -1, POLLIN, 0},
                                  {progress.err_open ? own.err.get() : -1, POLLIN, 0}}};
    const int ready = ::poll(waited.data(), waited.size(), milliseconds_until(deadline));
    if (ready < 0 && errno != EINTR) return failure("wait for a jail", errno);
    if (ready == 0) return failure("wait for a jail", ETIMEDOUT, {}, "it did not end");
    if (ready > 0 && waited[1].revents != 0) progress.out_open = take_some(own.out, progress.out);
    if (ready > 0 && waited[2].revents != 0) progress.err_open = take_some(own.err, progress.err);
    if (ready <= 0 || waited[0].revents == 0) continue;
    for (auto message = TRY(client.receive()); message; message = TRY(client.receive()))
      TRY(take_message(*message, progress));
  }
  return {};
}

}  // namespace

Expected<FromSupervisor> next_message(SupervisorClient& client, Microseconds deadline) {
  for (;;) {
    if (std::optional<FromSupervisor> message = TRY(client.receive())) return std::move(*message);
    pollfd waited{client.descriptor(), POLLIN, 0};
    const int ready = ::poll(&waited, 1, milliseconds_until(deadline));
    if (ready < 0 && errno != EINTR) return failure("wait for the supervisor", errno);
    if (ready == 0) return failure("wait for the supervisor", ETIMEDOUT, {}, "it does not answer");
  }
}

Expected<JailOutcome> run_in_jail(SupervisorClient& client, const std::string& probe_bytes, const ProbeOrder& order) {
  RunStreams streams = TRY(make_run_streams(WithStderr::Yes, WithStdin::No));
  TRY(open_run(client, probe_bytes, order, std::move(streams.peer)));
  Progress progress;
  TRY(follow(client, streams.own, progress));
  progress.outcome.report = read_probe_report(progress.out);
  return std::move(progress.outcome);
}

namespace {

Expected<std::string> output_of(const std::string& probe_path, const std::vector<std::string>& arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failure("make a pipe for the control run", errno);
  const Fd ours{ends[0]};
  Fd theirs{ends[1]};
  ChildProgram program;
  program.path = probe_path;
  program.argv.push_back(probe_path);
  program.argv.insert(program.argv.end(), arguments.begin(), arguments.end());
  program.fds.push_back({theirs.get(), 1});
  Child child = TRY(Child::start(program));
  theirs.reset();
  std::string output;
  const Microseconds deadline = monotonic_now() + kOutsideLimit;
  for (bool open = true; open;) {
    pollfd waited{ours.get(), POLLIN, 0};
    const int ready = ::poll(&waited, 1, milliseconds_until(deadline));
    if (ready == 0) break;
    if (ready > 0) open = take_some(ours, output);
  }
  child.signal(SIGKILL);  // ended already, mostly: then it hits nobody
  TRY(child.wait());
  return output;
}

}  // namespace

ControlOutcome run_outside(const std::string& probe_path, const std::vector<std::string>& arguments) {
  Expected<std::string> output = output_of(probe_path, arguments);
  if (!output) return {{}, output.error().text()};
  ControlOutcome outcome{read_probe_report(*output), {}};
  if (outcome.report.lines.empty()) outcome.not_tried = "the probe said nothing outside";
  return outcome;
}

}  // namespace mayfly
