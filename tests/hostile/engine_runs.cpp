#include "tests/hostile/engine_runs.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace mayfly::test {
namespace {

constexpr std::size_t kKept = 4 << 20;  // a test needs no more of a flood

// Reads what is there; closes `from` at its end.
void drain(Fd& from, std::string& into) {
  std::array<char, 65536> piece{};
  for (;;) {
    const ssize_t count = ::read(from.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return from.reset();
    if (into.size() < kKept) into.append(piece.data(), static_cast<std::size_t>(count));
  }
}

void add_command(PayloadBuilder& payload, const Attack& attack, const std::string& hostile) {
  if (!attack.command.empty()) {
    for (const std::string& word : attack.command) payload.add(PayloadKind::Argument, word);
    return;
  }
  payload.add(PayloadKind::File, hostile, "hostile", true);
  payload.add(PayloadKind::Argument, "/home/run/hostile");
  payload.add(PayloadKind::Argument, attack.program);
  for (const std::string& argument : attack.arguments) payload.add(PayloadKind::Argument, argument);
}

}  // namespace

Expected<RunNumber> EngineRuns::open(const Attack& attack, const std::string& hostile) {
  Request request;
  request.origin = OriginKind::Cli;
  request.principal = "uid " + std::to_string(::getuid());
  request.limits = attack.limits;
  if (attack.streams == Streams::Terminal) request.terminal = TerminalRequest{{80, 24}, "xterm"};
  PayloadBuilder payload;
  add_command(payload, attack, hostile);
  RunStreams streams =
      TRY(make_run_streams(attack.streams == Streams::Terminal ? WithStderr::No : WithStderr::Yes, WithStdin::Yes));
  const RunNumber number = TRY(engine_.client.open(std::move(request), std::move(payload), std::move(streams.peer)));
  runs_[number].own = std::move(streams.own);
  return number;
}

void EngineRuns::broken(const std::string& why) {
  for (auto& [number, run] : runs_) {
    if (!run.result) run.trouble = why;
  }
}

Expected<void> EngineRuns::take_messages() {
  for (;;) {
    std::optional<FromSupervisor> message = TRY(engine_.client.receive());
    if (!message) return {};
    if (const auto* fault = std::get_if<Fault>(&*message)) return failure("talk to supervisor", 0, {}, fault->text);
    if (const auto* running = std::get_if<Running>(&*message); running != nullptr && runs_.contains(running->run)) {
      runs_[running->run].running = true;
    }
    if (auto* ended = std::get_if<Ended>(&*message); ended != nullptr && runs_.contains(ended->run)) {
      runs_[ended->run].result = std::move(ended->result);
    }
    if (const auto* refused = std::get_if<Refused>(&*message); refused != nullptr && runs_.contains(refused->run)) {
      runs_[refused->run].trouble = "refused: " + refused->field + " " + refused->text;
    }
  }
}

Expected<void> EngineRuns::turn(Milliseconds most) {
  std::vector<pollfd> waited = {{engine_.client.descriptor(), POLLIN, 0}};
  for (auto& [number, run] : runs_) {
    if (number == unread_) continue;
    if (run.own.out) waited.push_back({run.own.out.get(), POLLIN, 0});
    if (run.own.err) waited.push_back({run.own.err.get(), POLLIN, 0});
  }
  if (::poll(waited.data(), waited.size(), static_cast<int>(most.count())) < 0 && errno != EINTR) {
    return failure("wait for runs", errno);
  }
  if (auto taken = take_messages(); !taken) {
    broken(taken.error().text());
    return taken;
  }
  for (auto& [number, run] : runs_) {
    if (number == unread_) continue;
    if (run.own.out) drain(run.own.out, run.out);
    if (run.own.err) drain(run.own.err, run.err);
  }
  return {};
}

}  // namespace mayfly::test
