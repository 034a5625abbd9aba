#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

#include "stage.h"

using namespace mayfly;
using namespace mayfly::stage;

namespace {

double seconds_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("the drain takes what a dead program left in its pipes, whatever the peer does") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  // The peer reads nothing: its pipe, the relay's buffer and the jail's pipe are full when the program dies.
  ::fcntl(jail.program_out.get(), F_SETFL, O_NONBLOCK);
  std::string written;
  for (int quiet = 0; quiet < 20;) {
    const std::string piece = std::to_string(written.size()) + " ";
    if (::write(jail.program_out.get(), piece.data(), piece.size()) > 0) {
      written += piece;
      quiet = 0;
    } else {
      ::usleep(10'000);
      ++quiet;
    }
  }
  REQUIRE(written.size() > 128'000);
  RelayReport report;
  CHECK(seconds_of([&] { report = jail.drain(); }) < 0.5);
  CHECK(report.incomplete == 0);
  CHECK(report.out.bytes == written.size());
  CHECK(digest_of(report.out) == sha256(written));
  // What a slow peer gets later is still everything, and the line behind it.
  jail.finish("reason");
  CHECK(read_to_end(jail.peer_out.get()) == written);
  CHECK(read_to_end(jail.peer_err.get()) == "reason\n");
  CHECK(jail.expect(RelaySays::Delivered).error == 0);
  CHECK(jail.relay_ends_within(kPatience));
}

TEST_CASE("after the drain the relay holds nothing of the jail") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  jail.arm("-1");
  Fd inner_in = std::move(jail.program_in);
  jail.drain();
  CHECK(at_end_within(inner_in.get(), kPatience));
  // 0 to 2, two pidfds, control, two sinks and the peer's source.
  CHECK(open_fds(witness.relays().at(0)).size() == 9);
}

TEST_CASE("a pipe that somebody holds open is given up after a second, and the result says so") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  Fd held = std::move(jail.program_out);
  write_all(held.get(), "before the end");
  RelayReport report;
  const double took = seconds_of([&] { report = jail.drain(); });
  CHECK(took > 0.9);
  CHECK(took < 2.0);
  CHECK(report.incomplete == 1);
  CHECK(report.out.bytes == 14);
  CHECK(::write(held.get(), "x", 1) < 0);  // closed on our side
  jail.finish("");
  CHECK(read_to_end(jail.peer_out.get()) == "before the end");
}

TEST_CASE("somebody who keeps writing into a held pipe gets neither time nor memory") {
  Witness witness;
  RelayOrder order = Jail::pipes();
  order.output_kept = GENERATE(0u, 1000u);
  Jail jail(witness, order);
  jail.attach();
  Fd held = std::move(jail.program_out);
  std::thread writer([&] { write_all(held.get(), std::string(512 << 20, 'w')); });
  RelayReport report;
  const double took = seconds_of([&] { report = jail.drain(); });
  writer.join();  // EPIPE
  CHECK(took < 2.0);
  CHECK(report.incomplete == 1);
  CHECK(memory_kib(witness.relays().at(0)) < kMostMemoryKib);
}

TEST_CASE("a relay that knows pid 1 drains by itself when it is dead, once") {
  Witness witness;
  Jail jail(witness, GENERATE(Jail::pipes(), Jail::terminal()));
  jail.attach();
  jail.arm();
  write_all(jail.program_out.get(), "last words");
  CHECK(read_up_to(jail.peer_out.get(), 10) == "last words");
  CHECK_FALSE(jail.hear(100));  // alive: nothing to say
  jail.program_in.reset();
  jail.program_out.reset();
  jail.program_err.reset();
  jail.pid_one.kill();
  const RelayReport drained = jail.expect(RelaySays::Drained);
  CHECK(drained.out.bytes == 10);
  CHECK(drained.incomplete == 0);
  jail.command(RelayCommand::Drain);
  jail.finish("");
  jail.expect(RelaySays::Delivered);
}

TEST_CASE("where no line can follow, what is delivered ends before Finish; what is not waits for its peer") {
  Witness witness;
  RelayOrder order = Jail::pipes();
  order.last_line = 0;
  Jail jail(witness, order);
  jail.attach();
  write_all(jail.program_out.get(), std::string(65536, 'a'));  // the peer's pipe is full now
  ::usleep(50'000);
  write_all(jail.program_out.get(), "more");
  write_all(jail.program_err.get(), "err");
  jail.drain();
  CHECK(read_to_end(jail.peer_err.get()) == "err");
  CHECK(read_up_to(jail.peer_out.get(), 65540).size() == 65540);
  CHECK(at_end_within(jail.peer_out.get(), kPatience));
  jail.finish("");
  CHECK(jail.expect(RelaySays::Delivered).error == 0);
  CHECK(jail.relay_ends_within(kPatience));
}

TEST_CASE("a held pipe ends the wait as soon as it is closed") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  Fd held = std::move(jail.program_out);
  std::thread holder([&] {
    ::usleep(200'000);
    write_all(held.get(), "late");
    held.reset();
  });
  RelayReport report;
  CHECK(seconds_of([&] { report = jail.drain(); }) < 0.9);
  holder.join();
  CHECK(report.incomplete == 0);
  CHECK(report.out.bytes == 4);
}

TEST_CASE("the streams are at their end for the peer before Delivered is said, not before Finish") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  write_all(jail.program_out.get(), "all");
  jail.drain();
  CHECK(read_up_to(jail.peer_out.get(), 3) == "all");
  CHECK_FALSE(readable_within(jail.peer_out.get(), 100));
  jail.finish("");
  jail.expect(RelaySays::Delivered);
  CHECK(at_end_within(jail.peer_out.get(), 0));
  CHECK(at_end_within(jail.peer_err.get(), 0));
}

TEST_CASE("the reason line starts a line of its own on stderr") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  write_all(jail.program_err.get(), "half");
  jail.drain();
  jail.finish("mayfly: ending=killed\n");
  CHECK(read_to_end(jail.peer_err.get()) == "half\nmayfly: ending=killed\n");
}

TEST_CASE("a jail that was never built still gives its peer the reason line") {
  Witness witness;
  Jail jail(witness, GENERATE(Jail::pipes(), Jail::terminal()));
  const bool terminal = jail.order.terminal == 1;
  if (GENERATE(true, false)) {
    jail.command(RelayCommand::Drain);
    CHECK(jail.expect(RelaySays::Drained).incomplete == 0);
  }
  jail.finish("mayfly: ending=failed");
  CHECK(read_to_end(terminal ? jail.peer_out.get() : jail.peer_err.get()) ==
        (terminal ? "\r\nmayfly: ending=failed\r\n" : "mayfly: ending=failed\n"));
  jail.expect(RelaySays::Delivered);
}

TEST_CASE("streams that arrive together with the drain are not lost") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  const pid_t relay = [&] {
    while (witness.relays().empty()) ::usleep(1000);
    return witness.relays().at(0);
  }();
  ::kill(relay, SIGSTOP);
  write_all(jail.program_out.get(), "short life");
  StreamsMessage message;
  message.count = 3;
  jail.attach(message, {jail.outer_in.get(), jail.outer_out.get(), jail.outer_err.get()});
  jail.program_in.reset();
  jail.program_out.reset();
  jail.program_err.reset();
  jail.command(RelayCommand::Drain);
  ::kill(relay, SIGCONT);
  jail.expect(RelaySays::Attached);
  CHECK(jail.expect(RelaySays::Drained).out.bytes == 10);
}

TEST_CASE("a supervisor that lets go while the peer is still reading does not cut it off") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  write_all(jail.program_out.get(), std::string(65536, 'a'));
  ::usleep(50'000);
  write_all(jail.program_out.get(), std::string(60000, 'b'));
  jail.drain();
  jail.finish("");
  jail.control.reset();
  ::usleep(50'000);
  CHECK(read_to_end(jail.peer_out.get()).size() == 65536 + 60000);
}

TEST_CASE("a peer that takes no byte for a minute is given up; one that takes a little now and then is not") {
  if (std::getenv("MAYFLY_LONG") == nullptr) return;  // takes its minute
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  write_all(jail.program_out.get(), std::string(65536, 'a'));
  ::usleep(50'000);
  write_all(jail.program_out.get(), std::string(60000, 'b'));
  jail.drain();
  jail.finish("reason");
  CHECK_FALSE(jail.hear(30'000).has_value());
  CHECK(read_up_to(jail.peer_out.get(), 8192).size() == 8192);
  RelayReport report;
  const double took = seconds_of([&] { report = jail.expect(RelaySays::Delivered, 70'000); });
  CHECK(took > 58);
  CHECK(report.error == ETIMEDOUT);
  CHECK(jail.relay_ends_within(kPatience));
}
