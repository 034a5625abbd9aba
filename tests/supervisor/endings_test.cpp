// Every way in which a jail ends, played from its other ends.
#include <catch2/catch.hpp>
#include <csignal>

#include "tests/fakes/played_engine.h"

using namespace mayfly;
using namespace mayfly::played;

namespace {

// The end as it goes when everybody does his part.
std::string demolish(PlayedJail& jail, RelayTotals out = {}) {
  jail.init.await_death();
  jail.drain(out);
  std::string line = jail.finish();
  jail.relay_exits();
  jail.say_released();
  return line;
}

struct Started {
  PlayedEngine engine;
  PlayedJail jail;
  explicit Started(EngineOptions options = {}, Request request = exec_request())
      : engine(std::move(options)), jail(begin(engine, std::move(request))) {
    jail.run();
    engine.next_as<Running>(engine.client());
  }
  static PlayedJail begin(PlayedEngine& engine, Request request) {
    engine.open(engine.client(), std::move(request));
    return engine.take_jail();
  }
  Result end() {
    demolish(jail);
    return engine.next_as<Ended>(engine.client()).result;
  }
};

}  // namespace

TEST_CASE("a program that exits ends its jail: status, kill, drain, result, in this order") {
  Started s;
  s.jail.exit_with(3);
  RelayTotals out;
  out.bytes = 5;
  const std::string line = demolish(s.jail, out);
  const Result result = s.engine.next_as<Ended>(s.engine.client()).result;
  CHECK(result.ending == Ending::Exited);
  CHECK(result.exit_code == 3);
  CHECK(result.out.bytes == 5);
  CHECK(line.empty());
  CHECK(result.controls == all_controls());
  CHECK(result.metrics.made_ahead == std::vector<std::string>{"network", "root"});
  CHECK(result.metrics.step_us[static_cast<std::size_t>(Step::PlaceTrees)] == 7);
  CHECK(result.metrics.build.count() > 0);
  CHECK(result.metrics.cpu.value == Microseconds{1234});
  CHECK_FALSE(result.metrics.memory_peak.value);
  CHECK_FALSE(result.metrics.memory_peak.why.empty());
}

TEST_CASE("a program that dies of a signal is told apart from one that exits") {
  Started s;
  s.jail.say_ended(SIGSEGV);
  const Result result = s.end();
  CHECK(result.ending == Ending::Signalled);
  CHECK(result.signal_number == SIGSEGV);
}

TEST_CASE("the wall limit ends the jail as time-limit, and SSH gets the reason line") {
  EngineOptions options;
  options.service = true;
  char directory[] = "/tmp/mayfly-test-XXXXXX";
  options.directory = ::mkdtemp(directory);
  options.policy.exec.defaults.wall = 60_ms;
  {
    PlayedEngine engine(options);
    SupervisorClient ssh = engine.connect_as(Role::Ssh, ::geteuid());
    const auto login = ssh.log_in({LoginWay::None, "run", "", "192.0.2.1", "192.0.2.1"}, 5_s);
    REQUIRE(login);
    Request request = exec_request(OriginKind::Ssh);
    request.principal = login->principal;
    engine.open(ssh, std::move(request));
    PlayedJail jail = engine.take_jail();
    jail.run();
    const std::string line = demolish(jail);
    engine.next_as<Running>(ssh);
    const Result result = engine.next_as<Ended>(ssh).result;
    CHECK(result.ending == Ending::TimeLimit);
    CHECK(line == reason_line(result));
    CHECK(result.metrics.wall >= Microseconds{60'000});
  }
  ::unlink((options.directory + "/lease.sock").c_str());
  ::unlink((options.directory + "/monitor.sock").c_str());
  ::rmdir(directory);
}

TEST_CASE("what the relay finds ends the jail") {
  const std::pair<RelaySays, Ending> rows[] = {
      {RelaySays::Ceiling, Ending::OutputLimit},
      {RelaySays::Idle, Ending::IdleLimit},
      {RelaySays::Backup, Ending::TimeLimit},
      {RelaySays::Broken, Ending::Failed},
      {RelaySays::Delivered, Ending::Failed}};  // it cannot be: nothing has ended
  for (const auto& [says, ending] : rows) {
    Started s;
    s.jail.report(says);
    CHECK(s.end().ending == ending);
  }
}

TEST_CASE("a peer that closed every sink does not end the jail: the program meets SIGPIPE, or goes on in silence") {
  Started s;
  s.jail.report(RelaySays::PeerGone);
  s.jail.exit_with(4);
  CHECK(s.end().exit_code == 4);
}

TEST_CASE("a cancelled run ends as it was cancelled, and the first decision wins") {
  Started s;
  REQUIRE(s.engine.client().cancel(1, Ending::Cancelled));
  s.jail.init.await_death();
  s.jail.exit_with(0);
  REQUIRE(s.engine.client().cancel(1, Ending::Disconnected));
  CHECK(s.end().ending == Ending::Cancelled);
}

TEST_CASE("a failed step while building is a failed jail that names step and errno, and nothing was opened") {
  PlayedEngine engine;
  engine.open(engine.client(), exec_request());
  PlayedJail jail = engine.take_jail();
  jail.say_cloned();
  jail.next_command(RelayCommand::Attach);
  jail.say_step_failed(Step::PlaceTrees, ENOSPC);
  demolish(jail);
  const Result result = engine.next_as<Ended>(engine.client()).result;
  CHECK(result.ending == Ending::Failed);
  CHECK(result.failed_step == Step::PlaceTrees);
  CHECK(result.failed_errno == ENOSPC);
}

TEST_CASE(
    "numbers that a jail's own processes made up do not reach its front end, which would give up its connection") {
  for (const int error : {-1, 4096}) {
    Started s;
    s.jail.say_step_failed(Step::Execute, error);
    CHECK(s.end().failed_errno == EPROTO);
  }
  Started s;
  s.jail.exit_with(0);
  RelayTotals out;
  out.bytes = UINT64_MAX;
  demolish(s.jail, out);
  const Result result = s.engine.next_as<Ended>(s.engine.client()).result;
  CHECK(result.ending == Ending::OutputLimit);  // so many would be far too many
  CHECK(result.out.bytes == static_cast<std::uint64_t>(INT64_MAX));
}

TEST_CASE("a clone that the builder could not make is a failed jail, with nobody to kill") {
  PlayedEngine engine;
  engine.open(engine.client(), exec_request());
  PlayedJail jail = engine.take_jail();
  jail.say_failed(Step::Clone, ENOSPC);
  jail.drain();
  jail.finish();
  const Result result = engine.next_as<Ended>(engine.client()).result;
  CHECK(result.failed_step == Step::Clone);
  CHECK(result.failed_errno == ENOSPC);
  CHECK_FALSE(jail.init.is_dead());
}

TEST_CASE("a program that cannot be executed is failed at Execute, with its errno") {
  Started s;
  s.jail.say_step_failed(Step::Execute, ENOENT);
  const Result result = s.end();
  CHECK(result.ending == Ending::Failed);
  CHECK(result.failed_step == Step::Execute);
  CHECK(result.failed_errno == ENOENT);
}

TEST_CASE("a first process that dies without a status is failed, never exit 0") {
  Started s;
  s.jail.init.kill();
  const Result result = s.end();
  CHECK(result.ending == Ending::Failed);
  CHECK_FALSE(result.exit_code);
}

TEST_CASE("a status that was sent just before the first process died counts") {
  Started s;
  s.jail.exit_with(7);
  s.jail.init.kill();
  CHECK(s.end().exit_code == 7);
}

TEST_CASE("a relay that dies ends its jail as failed") {
  Started s;
  s.jail.relay_exits();
  s.jail.init.await_death();
  const Result result = s.engine.next_as<Ended>(s.engine.client()).result;
  CHECK(result.ending == Ending::Failed);
  CHECK(result.output_incomplete);
}

TEST_CASE("a relay that dies before it has told what it read makes a good end a failed one") {
  Started s;
  s.jail.exit_with(0);
  s.jail.init.await_death();
  s.jail.relay_exits();
  const Result result = s.engine.next_as<Ended>(s.engine.client()).result;
  CHECK(result.ending == Ending::Failed);
  CHECK(result.output_incomplete);
}

TEST_CASE("a relay that says it has drained ends no jail; a first process that says it ends and does not is killed") {
  Started s;
  s.jail.report(RelaySays::Drained);
  ::usleep(100'000);
  CHECK_FALSE(s.jail.init.is_dead());
  s.jail.exit_with(4);
  s.jail.init.await_death();  // the sleeper that plays it does not end by itself
  s.jail.finish();
  CHECK(s.engine.next_as<Ended>(s.engine.client()).result.exit_code == 4);
}

TEST_CASE("of a run that is over at once the result alone is told, and it is whole either way") {
  PlayedEngine engine;
  bool at_once = false, after_running = false;
  for (int i = 0; i < 50 && !(at_once && after_running); ++i) {
    engine.open(engine.client(), exec_request());
    PlayedJail jail = engine.take_jail();
    jail.reach_gate();
    jail.next_gate_command();
    if (at_once) jail.next_command(RelayCommand::Opened);
    jail.exit_with(3);
    jail.init.kill();
    jail.drain();
    FromSupervisor message = engine.next(engine.client());
    const bool was_told = std::holds_alternative<Running>(message);
    (was_told ? after_running : at_once) = true;
    if (was_told) message = engine.next(engine.client());
    const Result& result = std::get<Ended>(message).result;
    CHECK(result.controls == all_controls());
    CHECK(result.limits.memory.count == kExecLimits.defaults.memory.count);
    CHECK(std::get<Ended>(message).after_running == was_told);
  }
  CHECK(at_once);
  CHECK(after_running);
}

TEST_CASE("a relay that says it is through and lives on is killed before its slot is used again") {
  const Sleeper process;
  EngineOptions options;
  options.relay_process = process.pidfd();
  Started s(std::move(options));
  s.jail.exit_with(0);
  s.jail.drain();
  s.jail.finish();
  s.jail.report(RelaySays::Delivered);
  CHECK(s.engine.next_as<Ended>(s.engine.client()).result.ending == Ending::Exited);
  CHECK_FALSE(process.is_dead());
  s.jail.relay_exits();
  s.jail.say_released();
  process.await_death();
}

TEST_CASE("a relay that was not through in time leaves the ending and says that output is missing") {
  Started s;
  s.jail.exit_with(0);
  s.jail.drain({}, true);
  const Result result = s.engine.next_as<Ended>(s.engine.client()).result;
  CHECK(result.ending == Ending::Exited);
  CHECK(result.output_incomplete);
}

TEST_CASE("a relay that answers nothing delays the result by its limit, no more") {
  Started s;
  s.jail.exit_with(0);
  const Result result = s.engine.next_as<Ended>(s.engine.client()).result;
  CHECK(result.ending == Ending::Failed);
  CHECK(result.output_incomplete);
}

TEST_CASE("a required control that is absent refuses the run by name, and the gate stays shut") {
  EngineOptions options;
  options.measured = [] {
    Controls controls = all_controls();
    controls.set(Control::Syscalls, Measured::Absent);
    return controls;
  };
  PlayedEngine engine(options);
  engine.open(engine.client(), exec_request());
  PlayedJail jail = engine.take_jail();
  jail.reach_gate();
  demolish(jail);
  const Refused refused = engine.next_as<Refused>(engine.client());
  CHECK(refused.kind == RefusalKind::ControlMissing);
  CHECK(refused.field == "syscalls");
}

namespace {

Expected<Controls> find_an_interface() { return failure("measure controls", 0, "network", "an interface eth0"); }

// One run whose program says what `at_gate` says; it must fail at the gate.
void check_fails_at_gate(const EngineOptions& options, const std::function<void(PlayedJail&)>& at_gate) {
  PlayedEngine engine(options);
  engine.open(engine.client(), exec_request());
  PlayedJail jail = engine.take_jail();
  jail.say_cloned();
  jail.next_command(RelayCommand::Attach);
  at_gate(jail);
  jail.say_attached();
  demolish(jail);
  const Result result = engine.next_as<Ended>(engine.client()).result;
  CHECK(result.ending == Ending::Failed);
  CHECK(result.failed_step == Step::Gate);
}

void say_both(PlayedJail& jail) {
  jail.say_placed();
  jail.say_at_gate();
}

}  // namespace

TEST_CASE("a control that is not as it was asked for fails the jail, in either half of measuring") {
  EngineOptions at_gate, placed;
  at_gate.measured = find_an_interface;
  placed.placed = find_an_interface;
  check_fails_at_gate(at_gate, say_both);
  check_fails_at_gate(placed, say_both);
}

TEST_CASE("a program that was never measured in its place, or is not the one that was, is not let through its gate") {
  check_fails_at_gate({}, [](PlayedJail& jail) { jail.say_at_gate(); });
  check_fails_at_gate({}, [](PlayedJail& jail) {
    jail.say_placed();
    jail.say_at_gate_as_another();
  });
}

TEST_CASE("cancelled while the builder still owes its answer, a jail is killed as soon as it is there") {
  PlayedEngine engine;
  engine.open(engine.client(), exec_request());
  PlayedJail jail = engine.take_jail();
  REQUIRE(engine.client().cancel(1, Ending::Cancelled));
  CHECK_FALSE(jail.init.is_dead());
  jail.say_cloned();
  demolish(jail);
  CHECK(engine.next_as<Ended>(engine.client()).result.ending == Ending::Cancelled);
}

TEST_CASE("a signal of the peer reaches init, or the terminal when there is one") {
  Started s;
  REQUIRE(s.engine.client().signal(1, SIGINT));
  CHECK(s.jail.next_gate_command().signal_number == SIGINT);

  Request request = exec_request();
  request.terminal = TerminalRequest{{90, 30}, "xterm"};
  Started t({}, std::move(request));
  CHECK(t.jail.order.terminal == 1);
  CHECK(t.jail.plan.columns == 90);
  REQUIRE(t.engine.client().signal(1, SIGINT));
  CHECK(t.jail.next_command(RelayCommand::Signal).signal_number == SIGINT);
  REQUIRE(t.engine.client().signal(1, SIGTERM));
  CHECK(t.jail.next_gate_command().signal_number == SIGTERM);
  REQUIRE(t.engine.client().resize(1, {100, 50}));
  CHECK(t.jail.next_command(RelayCommand::Resize).columns == 100);
}
