#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>

#include "stage.h"

using namespace mayfly;
using namespace mayfly::stage;

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

TEST_CASE("two seconds after the wall limit the relay lifts the quota, kills pid 1 and says so") {
  Witness witness;
  RelayOrder order = Jail::pipes();
  order.wall_ms = 300;
  Jail jail(witness, order);
  jail.attach();
  jail.arm("-1");
  CHECK_FALSE(jail.hear(300).has_value());  // the clock starts with the gate
  const auto start = Clock::now();
  jail.open();
  jail.expect(RelaySays::Backup);
  const double took = since(start);
  CHECK(took > 2.2);
  CHECK(took < 3.3);
  CHECK(jail.pid_one.dies_within(1000));
  CHECK(read_up_to(jail.kill_file.read.get(), 2) == "-1");
  CHECK(jail.drain().incomplete == 0);  // the supervisor, when it is back
}

TEST_CASE("a peer that sends nothing for the idle limit is reported once; every byte starts the time anew") {
  Witness witness;
  RelayOrder order = Jail::pipes();
  order.idle_ms = 400;
  Jail jail(witness, order);
  jail.attach();
  CHECK_FALSE(jail.hear(500).has_value());
  jail.open();
  for (int i = 0; i < 4; ++i) {
    CHECK_FALSE(jail.hear(200).has_value());
    write_all(jail.peer_in.get(), "k");
  }
  write_all(jail.program_out.get(), "output is not activity");
  const auto start = Clock::now();
  CHECK(jail.expect(RelaySays::Idle).in_bytes == 4);
  CHECK(since(start) > 0.3);
  CHECK_FALSE(jail.hear(600).has_value());
}

TEST_CASE("when the supervisor or the keeper dies, pid 1 dies at once and nothing more is delivered") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  jail.arm("1");
  jail.open();
  SECTION("supervisor") { witness.supervisor.kill(); }
  SECTION("keeper") { witness.keeper.kill(); }
  SECTION("control closed") { jail.control.reset(); }
  CHECK(jail.pid_one.dies_within(1000));
  CHECK(read_up_to(jail.kill_file.read.get(), 1) == "1");
  CHECK(at_end_within(jail.peer_out.get(), kPatience));
}

TEST_CASE("a supervisor that dies right after it has named pid 1 is no reason to miss it") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  const pid_t relay = witness.relays().at(0);
  ::kill(relay, SIGSTOP);
  jail.arm("1");
  jail.open();
  SECTION("dead") { witness.supervisor.kill(); }
  SECTION("closed") { jail.control.reset(); }
  ::kill(relay, SIGCONT);
  CHECK(jail.pid_one.dies_within(1000));
}

TEST_CASE("a stopped supervisor that reads nothing does not stop the clock, and hears everything later") {
  Witness witness;
  RelayOrder order = Jail::pipes();
  order.wall_ms = 100;
  order.idle_ms = 50;
  order.output_ceiling = 10;
  Jail jail(witness, order);
  jail.attach();
  jail.arm();
  jail.open();
  write_all(jail.program_out.get(), "more than ten bytes");
  CHECK(jail.pid_one.dies_within(4000));
  jail.expect(RelaySays::Ceiling);
  jail.expect(RelaySays::Idle);
  jail.expect(RelaySays::Backup);
}

TEST_CASE("a supervisor dead after the drain: the relay ends without delivering, with nothing left to kill") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  jail.arm();
  jail.drain();
  witness.supervisor.kill();
  CHECK(at_end_within(jail.peer_out.get(), kPatience));
  CHECK_FALSE(jail.pid_one.dies_within(100));
}

TEST_CASE("a command that is not in the contract ends the jail") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  jail.arm();
  RelayMessage message;
  SECTION("too short") { ::send(jail.control.get(), "x", 1, 0); }
  SECTION("unknown") {
    message.command = static_cast<RelayCommand>(77);
    jail.command(message);
  }
  SECTION("descriptors where none belong") {
    message.command = RelayCommand::Opened;
    jail.command(message, {jail.pid_one.pidfd()});
  }
  SECTION("attach without a pidfd") { jail.command(RelayCommand::Attach); }
  jail.expect(RelaySays::Broken);
  CHECK(jail.pid_one.dies_within(kPatience));
  CHECK(jail.relay_ends_within(kPatience));
}
