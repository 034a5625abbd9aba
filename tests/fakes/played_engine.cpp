#include "tests/fakes/played_engine.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <future>

#include "jail/os/memfd.h"
#include "jail/os/unix_socket.h"
#include "jail/supervisor/fixed_message.h"

namespace mayfly::played {

namespace {

template <typename T>
T must(Expected<T> value) {
  if (!value) throw PlayedOut(value.error().text());
  return std::move(*value);
}
void must(Expected<void> value) {
  if (!value) throw PlayedOut(value.error().text());
}

Received next_message(int socket, std::size_t most, const char* what) {
  await_readable(socket, what);
  return must(receive_message(socket, most, 16));
}

template <typename T>
void say(int socket, const T& message, std::vector<int> fds = {}) {
  must(send_message(socket, bytes_of(message), fds));
}

SocketPair make_pair() { return must(make_seqpacket_pair(Blocking::No)); }

SupervisorConfig config_of(const EngineOptions& options) {
  SupervisorConfig config;
  config.instance = "0123456789ab";
  config.run_directory = options.directory;
  config.rootless = true;
  config.private_engine = !options.service;
  config.use_cgroups = false;
  config.version = "0.1.0";
  config.policy = options.policy;
  return config;
}

HostSide host_of(const EngineOptions& options) {
  HostSide host;
  host.groups = CgroupHost::none("played");
  host.measure.placed = [placed = options.placed](const AtTheGate&) {
    return placed ? placed() : Expected<Controls>(Controls());
  };
  host.measure.at_gate = [measured = options.measured](const AtTheGate&, const Controls&) {
    return measured ? measured() : Expected<Controls>(all_controls());
  };
  host.survey = [](const BuilderReply& builder) {
    Host found;
    found.kernel = "played " + std::to_string(builder.landlock_abi);
    found.cgroups = "none";
    return found;
  };
  host.size = {8_gib, 2};
  // It is this process that plays the relay; one that a test gives stands for it.
  host.open_process = [process = options.relay_process](pid_t) -> Expected<Fd> {
    if (process < 0) return failure("open process", ESRCH);
    return Fd(::fcntl(process, F_DUPFD_CLOEXEC, 0));
  };
  return host;
}

}  // namespace

void await_readable(int fd, const char* what) {
  pollfd waited{fd, POLLIN, 0};
  if (::poll(&waited, 1, static_cast<int>(kPatience.count())) != 1)
    throw PlayedOut(std::string("waited in vain for ") + what);
}

Controls all_controls() {
  Controls controls;
  for (const Control control : kAllControls) controls.set(control, Measured::Seccomp);
  return controls;
}

Request exec_request(OriginKind origin) {
  Request request;
  request.origin = origin;
  request.principal = "ana";
  request.profile = "run";
  return request;
}

Sleeper::Sleeper() {
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that dies leaves nobody asleep
    ::close_range(3, ~0u, 0);            // a copy of any socket here would hide its end of file
    for (;;) ::pause();
  }
  pidfd_ = must(open_pidfd(pid_));
}

Sleeper::~Sleeper() {
  if (pid_ == 0) return;
  kill();
  ::waitpid(pid_, nullptr, 0);
}

void Sleeper::kill() { (void)signal_pidfd(pidfd_, SIGKILL); }
void Sleeper::await_death() const { await_readable(pidfd_.get(), "the death of pid 1"); }

void PlayedJail::say_cloned() {
  BuilderReply reply;
  reply.says = BuilderSays::Cloned;
  reply.slot = plan.slot;
  reply.pid = ::getpid();  // who speaks on the gate: this process
  reply.parts_made_ahead = has_parts ? 1 : 0;
  say(builder, reply, {init.pidfd()});
}

void PlayedJail::say_failed(Step step, int error) {
  BuilderReply reply;
  reply.says = BuilderSays::Failed;
  reply.slot = plan.slot;
  reply.step = static_cast<std::uint32_t>(step);
  reply.error = error;
  say(builder, reply);
  gate.reset();
  stream.reset();
}

void PlayedJail::say_released() {
  BuilderReply reply;
  reply.says = BuilderSays::Released;
  reply.slot = plan.slot;
  say(builder, reply);
}

void PlayedJail::say_placed() {
  GateMessage message;
  message.says = GateSays::Placed;
  say(gate.get(), message);
}

void PlayedJail::say_at_gate() {
  GateMessage message;
  message.says = GateSays::AtGate;
  message.step_us[static_cast<std::size_t>(Step::PlaceTrees)] = 7;
  say(gate.get(), message);
}

void PlayedJail::say_at_gate_as_another() {
  GateMessage message;
  message.says = GateSays::AtGate;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(::send(gate.get(), &message, sizeof message, MSG_NOSIGNAL) == sizeof message ? 0 : 1);
  int status = 1;
  if (::waitpid(child, &status, 0) != child || status != 0) throw PlayedOut("the other process could not speak");
}

void PlayedJail::say_step_failed(Step step, int error) {
  GateMessage message;
  message.says = GateSays::StepFailed;
  message.step = static_cast<std::uint32_t>(step);
  message.error = error;
  say(gate.get(), message);
}

void PlayedJail::say_ended(int wait_status) {
  GateMessage message;
  message.says = GateSays::Ended;
  message.wait_status = wait_status;
  message.cpu_us = 1234;
  say(gate.get(), message);
}

void PlayedJail::report(RelaySays says) {
  RelayReport report;
  report.says = says;
  say(control.get(), report);
}

RelayMessage PlayedJail::next_command(RelayCommand wanted) {
  RelayMessage message;
  if (!read_fixed(next_message(control.get(), sizeof message, "a command to the relay"), message) ||
      message.command != wanted)
    throw PlayedOut("another command than wanted: " + std::to_string(static_cast<int>(message.command)));
  sees_death = sees_death || wanted == RelayCommand::Attach;
  return message;
}

GateCommand PlayedJail::next_gate_command() {
  GateCommand command;
  if (!read_fixed(next_message(gate.get(), sizeof command, "a command at the gate"), command))
    throw PlayedOut("gate closed");
  return command;
}

void PlayedJail::drain(RelayTotals out, bool incomplete) {
  if (sees_death)
    init.await_death();
  else
    next_command(RelayCommand::Drain);
  RelayReport report;
  report.says = RelaySays::Drained;
  report.out = out;
  report.incomplete = incomplete ? 1 : 0;
  say(control.get(), report);
}

std::string PlayedJail::finish() { return next_command(RelayCommand::Finish).text; }

void PlayedJail::relay_exits() {
  control.reset();
  relay_stream.reset();
  peer.clear();
}

void PlayedJail::reach_gate() {
  say_cloned();
  next_command(RelayCommand::Attach);
  say_attached();
  say_placed();
  say_at_gate();
}

void PlayedJail::run() {
  reach_gate();
  if (next_gate_command().order != GateOrder::Open) throw PlayedOut("the gate was not opened");
  next_command(RelayCommand::Opened);
}

void RawPeer::send(const std::string& text, std::vector<int> fds) const {
  must(send_message(socket.get(), std::as_bytes(std::span(text)), fds));
}

Json RawPeer::next() const {
  await_readable(socket.get(), "a frame");
  Frame frame = must(receive_frame(socket.get()));
  if (frame.closed) throw PlayedOut("closed instead of a frame");
  return std::move(frame.body);
}

void RawPeer::await_close() const {
  for (int i = 0; i < 1000; ++i) {
    await_readable(socket.get(), "the end of the connection");
    char byte = 0;
    const ssize_t got = ::recv(socket.get(), &byte, 1, MSG_TRUNC);
    if (got == 0 || (got < 0 && errno == ECONNRESET)) return;
  }
  throw PlayedOut("the connection stays open");
}

PlayedEngine::PlayedEngine(EngineOptions options) {
  SocketPair builder = make_pair(), witness = make_pair(), keeper = make_pair(), lease = make_pair();
  builder_ = std::move(builder.ours);
  witness_ = std::move(witness.ours);
  keeper_ = std::move(keeper.ours);
  SupervisorDoors doors;
  doors.keeper_pidfd = Fd(::fcntl(keeper_process_.pidfd(), F_DUPFD_CLOEXEC, 0));
  doors.keeper = std::move(keeper.theirs);
  doors.builder = std::move(builder.theirs);
  doors.witness = std::move(witness.theirs);
  if (options.service) {
    lease_path_ = options.directory + "/lease.sock";
    doors.lease = must(listen_at(lease_path_, 0600));
    doors.monitor = must(listen_at(options.directory + "/monitor.sock", 0600));
  } else {
    doors.lease = std::move(lease.theirs);
    private_lease = Fd(::fcntl(lease.ours.get(), F_DUPFD_CLOEXEC, 0));
    client_ = std::make_unique<SupervisorClient>(must(SupervisorClient::adopt(std::move(lease.ours))));
  }
  if (options.builder_ready) builder_says_ready();
  std::promise<std::string> started;
  auto problem = started.get_future();
  thread_ = std::thread([this, options, &started, doors = std::move(doors)]() mutable {
    Expected<EventLoop> loop = EventLoop::make();
    auto supervisor = Supervisor::make(*loop, config_of(options), std::move(doors), host_of(options));
    started.set_value(supervisor ? "" : supervisor.error().text());
    if (supervisor) (void)loop->run();
    supervisor = tl::make_unexpected(Failure{});  // destroyed here, on its own thread
    over_ = true;
  });
  if (const std::string text = problem.get(); !text.empty()) {
    thread_.join();
    throw PlayedOut(text);
  }
}

PlayedEngine::~PlayedEngine() {
  keeper_process_.kill();  // a supervisor without a keeper ends fast
  if (thread_.joinable()) thread_.join();
}

void PlayedEngine::await_end() {
  for (int i = 0; i < 12'000 && !over_; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (!over_) throw PlayedOut("the supervisor does not end");
}

RunNumber PlayedEngine::open(SupervisorClient& from, Request request) {
  streams = must(make_run_streams(request.terminal ? WithStderr::No : WithStderr::Yes, WithStdin::Yes));
  PayloadBuilder payload;
  payload.add(PayloadKind::Command, "echo hello");
  return must(from.open(std::move(request), std::move(payload), std::move(streams.peer)));
}

FromSupervisor PlayedEngine::next(SupervisorClient& from) {
  for (int i = 0; i < 100; ++i) {
    await_readable(from.descriptor(), "word from the supervisor");
    if (auto message = must(from.receive())) return std::move(*message);
  }
  throw PlayedOut("no message");
}

PlayedJail PlayedEngine::take_jail() {
  PlayedJail jail;
  Received plan = next_message(builder_.get(), sizeof(Plan), "a plan");
  jail.was_prepared = plan.bytes.size() == sizeof(Prepare);
  if (jail.was_prepared) plan = next_message(builder_.get(), sizeof(Plan), "a plan");
  if (!unpack_plan(plan.bytes, jail.plan) || plan.fds.size() < 2) throw PlayedOut("no plan");
  jail.gate = std::move(plan.fds[0]);
  jail.stream = std::move(plan.fds[1]);
  if (jail.plan.has_payload != 0) jail.payload = std::move(plan.fds[2]);
  Received order = next_message(witness_.get(), sizeof(RelayOrder), "an order for a relay");
  if (!read_fixed(order, jail.order) || order.fds.size() < 3) throw PlayedOut("no order for a relay");
  jail.control = std::move(order.fds[0]);
  jail.relay_stream = std::move(order.fds[1]);
  for (std::size_t i = 2; i < order.fds.size(); ++i) jail.peer.push_back(std::move(order.fds[i]));
  jail.builder = builder_.get();
  return jail;
}

bool PlayedEngine::has_plan() const {
  pollfd waited{builder_.get(), POLLIN, 0};
  return ::poll(&waited, 1, 50) == 1;
}

void PlayedEngine::builder_says_ready() {
  BuilderReply reply;
  reply.says = BuilderSays::Ready;
  reply.landlock_abi = 5;
  say(builder_.get(), reply);
}

void PlayedEngine::tell_keeper_word(KeeperSays says, int fd, Role role, std::uint32_t uid) {
  KeeperMessage message;
  message.says = says;
  message.role = role;
  message.pid = ::getpid();
  message.uid = uid;
  say(keeper_.get(), message, fd >= 0 ? std::vector<int>{fd} : std::vector<int>{});
}

void PlayedEngine::builder_starts_anew() {
  SocketPair pair = make_pair();
  builder_ = std::move(pair.ours);
  tell_keeper_word(KeeperSays::NewBuilder, pair.theirs.get(), Role::Cli, 0);
  builder_says_ready();
}

void PlayedEngine::witness_starts_anew() {
  SocketPair pair = make_pair();
  witness_ = std::move(pair.ours);
  tell_keeper_word(KeeperSays::NewWitness, pair.theirs.get(), Role::Cli, 0);
}

void PlayedEngine::order_stop() { tell_keeper_word(KeeperSays::Stop, -1, Role::Cli, 0); }
void PlayedEngine::announce(Role role, std::uint32_t uid) { tell_keeper_word(KeeperSays::FrontEnd, -1, role, uid); }
void PlayedEngine::forget_front_end() { tell_keeper_word(KeeperSays::FrontEndGone, -1, Role::Cli, 0); }

SupervisorClient PlayedEngine::connect_as(Role role, std::uint32_t uid) {
  announce(role, uid);
  return must(SupervisorClient::connect(lease_path_));
}

}  // namespace mayfly::played
