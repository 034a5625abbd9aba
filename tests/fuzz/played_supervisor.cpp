#include "tests/fuzz/played_supervisor.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "jail/os/memfd.h"
#include "jail/os/unix_socket.h"
#include "jail/spec/resolve.h"
#include "tests/fuzz/ssh_bytes.h"
#include "tests/fuzz/violation.h"

namespace mayfly::fuzz {

namespace {

constexpr std::uint32_t kMostLogins = 7;  // six attempts, and the first question that shows nothing
constexpr std::size_t kMostJails = 10;
constexpr std::uint64_t kMostCommand = 256 * 1024;  // what fits in one packet of libssh
constexpr std::string_view kForcedCommand = "forced";
constexpr std::size_t kMuchOutput = 300'000;

// Short, so that their warnings come within a scenario.
Limits limits_of_a_jail() {
  Limits limits = kExecLimits.defaults;
  limits.wall = 125_s;
  limits.idle = 120_s;
  return limits;
}

Controls controls_of_a_jail() {
  Controls controls;
  for (const Control control : kAllControls) controls.set(control, Measured::Seccomp);
  return controls;
}

std::string id_of(RunNumber run) { return "j_" + std::string(22, 'f') + std::to_string(run); }

Result result_of(RunNumber run, Ending ending, std::optional<int> number) {
  Result result;
  result.id = id_of(run);
  result.ending = ending;
  if (ending == Ending::Exited) result.exit_code = number.value_or(0);
  if (ending == Ending::Signalled) result.signal_number = number.value_or(SIGKILL);
  result.text = "played";
  result.profile = "run";
  return result;
}

bool known(std::string_view user) { return user == "run" || user == "python"; }

void require(bool holds, const char* rule) {
  if (!holds) violated(rule);
}

}  // namespace

PlayedSupervisor::PlayedSupervisor(Fd lease, const Scenario& scenario, Reached& reached)
    : lease_(std::move(lease)), scenario_(scenario), reached_(reached) {}

void PlayedSupervisor::stop() {
  lease_.reset();
  jails_.clear();
}

bool PlayedSupervisor::step() {
  bool moved = false;
  while (lease_ && hear()) moved = true;
  for (auto& [run, jail] : jails_) moved = move_bytes(run, jail) || moved;
  std::erase_if(jails_, [](const auto& entry) { return entry.second.told && !entry.second.out && !entry.second.err; });
  return moved;
}

bool PlayedSupervisor::hear() {
  auto frame = receive_frame(lease_.get());
  if (!frame) {
    if (frame.error().error != EAGAIN) violated("the supervisor cannot read a frame", frame.error().text());
    return false;
  }
  if (frame->closed) {
    stop();
    return false;
  }
  auto message = decode_from_front_end(frame->body);
  if (!message) violated("the supervisor would refuse this message", message.error().text());
  if (const auto* login = std::get_if<LogIn>(&*message)) on(*login);
  if (const auto* open = std::get_if<Open>(&*message)) on(*open, std::move(frame->fds));
  if (const auto* cancel = std::get_if<Cancel>(&*message)) on(*cancel);
  if (const auto* signal = std::get_if<SignalRun>(&*message)) on(*signal);
  if (const auto* resize = std::get_if<ResizeRun>(&*message)) on(*resize);
  require(!std::holds_alternative<AskHost>(*message), "a session asks for the host");
  return true;
}

void PlayedSupervisor::say(const FromSupervisor& message) {
  if (!lease_) return;
  const auto sent = send_frame(lease_.get(), encode(message));
  if (!sent && sent.error().error != EPIPE) violated("the harness cannot answer", sent.error().text());
}

void PlayedSupervisor::on(const LogIn& login) {
  require(!admitted_, "a login is asked for after a good one");
  require(++asked_ <= kMostLogins, "more attempts to log in than are allowed");
  require(login.user.size() <= 64 * 3, "a user name is too long");  // a byte that is not UTF-8 is replaced by three
  require(login.source == "192.0.2.1" && login.host == "192.0.2.1", "a login names another peer");
  ++reached_.asked;
  const bool key = login.way == LoginWay::Key || login.way == LoginWay::KeyOffer;
  if (login.way == LoginWay::None) require(login.credential.empty(), "a login without proof has a credential");
  LoginJudged judged;
  judged.good = known(login.user) &&
                (scenario_.ways == Ways::Open || (key ? !login.credential.empty() : login.credential == "code"));
  if (judged.good && login.way != LoginWay::KeyOffer) {
    judged.principal = "fuzz:somebody";
    if (scenario_.forced_command) judged.command = std::string(kForcedCommand);
    admitted_ = login;
  }
  say(judged);
}

void PlayedSupervisor::judge_request(const Open& open, const std::vector<Fd>& fds) const {
  const Request& request = open.request;
  require(admitted_.has_value(), "a jail is asked for and nobody has logged in");
  require(open.run > last_run_, "a run has the number of an earlier one");
  require(request.origin == OriginKind::Ssh && request.peer == "192.0.2.1:50422", "a jail names another peer");
  require(request.principal == "fuzz:somebody" && request.profile == admitted_->user, "a jail is somebody else's");
  require(open.has_stdin, "a jail has no stdin");
  require(request.payload.size() <= 1 && (request.payload_bytes == 0) == (fds.size() == (request.terminal ? 2u : 3u)),
          "the payload and its descriptor do not belong together");
  require(fds.size() >= (request.terminal ? 2u : 3u) && fds.size() <= (request.terminal ? 3u : 4u),
          "a jail has another number of streams");
  if (!request.terminal) return;
  const TerminalSize size = request.terminal->size;
  require(size.columns >= 1 && size.columns <= 1000 && size.rows >= 1 && size.rows <= 1000, "a terminal's size");
  require(request.terminal->term.empty() || is_terminfo_name(request.terminal->term), "a terminal's name");
}

void PlayedSupervisor::judge_command(const Open& open, const Fd& payload) const {
  const PayloadPart& part = open.request.payload.front();
  require(part.kind == PayloadKind::Command && part.offset == 0 && part.length == open.request.payload_bytes,
          "a payload is another thing than a command");
  const auto bytes = read_whole(payload, kMostCommand);
  require(bytes && sealed_size(payload, kMostCommand).value_or(0) == part.length, "a payload is not what it says");
  require(bytes->find('\0') == std::string::npos, "a command has a NUL in it");
  require(!scenario_.forced_command || *bytes == kForcedCommand, "a forced command was replaced");
}

void PlayedSupervisor::on(const Open& open, std::vector<Fd> fds) {
  judge_request(open, fds);
  if (open.request.payload_bytes != 0) judge_command(open, fds.back());
  require(!scenario_.forced_command || open.request.payload_bytes != 0, "a forced command is not there");
  require(jails_.size() < kMostJails, "more jails at once than channels are allowed");
  ++reached_.runs;
  last_run_ = open.run;
  Jail jail;
  jail.play = scenario_.play_of(static_cast<std::uint32_t>(reached_.runs));
  auto next = fds.begin();
  jail.out = std::move(*next++);
  if (!open.request.terminal) jail.err = std::move(*next++);
  jail.in = std::move(*next);
  // It reads nothing: its pipe is full soon, and what more the peer sends has to wait in the session.
  if (jail.play == Play::Interactive) (void)::fcntl(jail.in.get(), F_SETPIPE_SZ, 4096);
  begin(open.run, jails_[open.run] = std::move(jail));
}

void PlayedSupervisor::begin(RunNumber run, Jail& jail) {
  if (jail.play == Play::Silent) return;
  if (jail.play == Play::Refuse) {
    say(Refused{run, id_of(run), RefusalKind::QueueFull, "", "the queue is full \x1b[31m", 1000});
    jail.out.reset();
    jail.err.reset();
    jail.told = true;
    return;
  }
  if (jail.play == Play::FailToBuild) return finish(run, jail, Ending::Failed);
  if (jail.play == Play::Echo) say(Queued{run, id_of(run), 3});
  say(Running{run, id_of(run), controls_of_a_jail(), limits_of_a_jail()});
  jail.ran = true;
  if (jail.play == Play::HelloAndExit) {
    jail.to_out = "hello\n";
    jail.to_err = "and more\n";
    finish(run, jail, Ending::Exited, 0);
  }
  if (jail.play == Play::MuchOutput) {
    jail.to_out.assign(kMuchOutput, 'm');
    finish(run, jail, Ending::Signalled, SIGKILL);
  }
  if (jail.play == Play::LateBytes) {
    jail.to_out = "late\n";
    finish(run, jail, Ending::Exited, 7);
  }
}

void PlayedSupervisor::finish(RunNumber run, Jail& jail, Ending ending, std::optional<int> number) {
  if (jail.ending || jail.told) return;
  jail.ending = result_of(run, ending, number);
  if (jail.play != Play::LateBytes) return;
  say(Ended{run, *jail.ending, jail.ran});
  jail.told = true;
}

bool PlayedSupervisor::echo(Jail& jail) {
  std::array<char, 16384> bytes;  // NOLINT: filled by read
  const ssize_t count = jail.in && jail.to_out.empty() ? ::read(jail.in.get(), bytes.data(), bytes.size()) : -1;
  if (count > 0) {
    reached_.input += static_cast<std::size_t>(count);
    jail.to_out.assign(bytes.data(), static_cast<std::size_t>(count));
  }
  if (count == 0) jail.in.reset();
  return count >= 0;
}

bool PlayedSupervisor::move_bytes(RunNumber run, Jail& jail) {
  bool moved = jail.play == Play::Echo && !jail.ending && echo(jail);
  if (jail.play == Play::Echo && jail.ran && !jail.in) finish(run, jail, Ending::Exited, 3);
  for (auto [fd, bytes] : {std::pair(&jail.out, &jail.to_out), std::pair(&jail.err, &jail.to_err)}) {
    const ssize_t count = bytes->empty() || !*fd ? 0 : ::write(fd->get(), bytes->data(), bytes->size());
    if (count < 0 && errno == EPIPE) bytes->clear();
    if (count > 0) bytes->erase(0, static_cast<std::size_t>(count));
    moved = moved || count > 0;
  }
  if (!jail.ending || !jail.to_out.empty() || !jail.to_err.empty() || (!jail.out && !jail.err)) return moved;
  jail.out.reset();
  jail.err.reset();
  jail.in.reset();
  if (!jail.told) say(Ended{run, *jail.ending, jail.ran});
  jail.told = true;
  return true;
}

void PlayedSupervisor::on(const Cancel& cancel) {
  ++reached_.cancels;
  const auto found = jails_.find(cancel.run);
  if (found == jails_.end()) return;
  found->second.to_out.clear();
  found->second.to_err.clear();
  finish(cancel.run, found->second, Ending::Disconnected);
}

void PlayedSupervisor::on(const SignalRun& signal) {
  ++reached_.signals;
  const auto found = jails_.find(signal.run);
  if (found == jails_.end() || found->second.play != Play::Interactive) return;
  if (signal.signal_number == SIGTERM || signal.signal_number == SIGKILL)
    finish(signal.run, found->second, Ending::Signalled, signal.signal_number);
}

void PlayedSupervisor::on(const ResizeRun&) { ++reached_.resizes; }

PlayedSupervisor::Jail* PlayedSupervisor::jail_of(std::string_view record) {
  const auto found = jails_.find(Bytes(record).byte());
  return found == jails_.end() || !found->second.ran || found->second.ending ? nullptr : &found->second;
}

void PlayedSupervisor::write_from_jail(std::string_view record) {
  Jail* const jail = jail_of(record);
  if (jail == nullptr) return;
  Bytes in(record.substr(1));
  const bool is_out = in.byte() == 0 || !jail->err;
  (is_out ? jail->to_out : jail->to_err).append(16u * in.byte(), 'w');
}

void PlayedSupervisor::end_jail(std::string_view record) {
  Bytes in(record);
  const RunNumber run = in.byte();
  const auto found = jails_.find(run);
  if (found == jails_.end()) return;
  Jail& jail = found->second;
  switch (static_cast<JailEnding>(in.byte() % static_cast<std::uint8_t>(JailEnding::Count))) {
    case JailEnding::Exit:
      return finish(run, jail, Ending::Exited, in.byte());
    case JailEnding::Signal:
      return finish(run, jail, Ending::Signalled, 1 + in.byte() % 64);
    case JailEnding::TimeLimit:
      return finish(run, jail, Ending::TimeLimit);
    case JailEnding::Incomplete:
      finish(run, jail, Ending::Exited, 0);
      if (jail.ending) jail.ending->output_incomplete = true;
      return;
    case JailEnding::Failed:
      return finish(run, jail, Ending::Failed);
    case JailEnding::Refused:
    case JailEnding::Count:
      return finish(run, jail, Ending::Refused);
  }
}

}  // namespace mayfly::fuzz
