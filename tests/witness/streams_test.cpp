#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <future>
#include <random>
#include <thread>

#include "stage.h"

using namespace mayfly;
using namespace mayfly::stage;

namespace {

std::string random_bytes(std::size_t count) {
  std::mt19937_64 random(42);
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

// Fills a pipe that nobody empties; how many bytes went in until nothing has moved for `quiet_ms`.
std::size_t fill(int fd, std::size_t most, int quiet_ms) {
  ::fcntl(fd, F_SETFL, O_NONBLOCK);
  const std::string chunk(65536, 'z');
  std::size_t all = 0;
  int quiet = 0;
  while (all < most && quiet < quiet_ms) {
    const ssize_t given = ::write(fd, chunk.data(), chunk.size());
    if (given > 0) {
      all += static_cast<std::size_t>(given);
      quiet = 0;
    } else {
      ::usleep(10'000);
      quiet += 10;
    }
  }
  return all;
}

}  // namespace

TEST_CASE("100 MiB of output arrive byte for byte, and the digest is theirs") {
  Witness witness;
  Pair peer = GENERATE(true, false) ? Jail::from(make_pipe()) : socket_pair(SOCK_STREAM);
  Jail jail(witness, Jail::pipes(), std::move(peer));
  jail.attach();
  const std::string sent = random_bytes(100 << 20);
  std::thread program([&] { write_all(jail.program_out.get(), sent); });
  const std::string received = read_up_to(jail.peer_out.get(), sent.size());
  program.join();
  CHECK(received == sent);
  const RelayReport report = jail.drain();
  CHECK(report.out.bytes == sent.size());
  CHECK(digest_of(report.out) == sha256(sent));
  CHECK(report.out.truncated == 0);
  CHECK(report.incomplete == 0);
  CHECK(report.err.bytes == 0);
  CHECK(digest_of(report.err) == sha256(""));
}

TEST_CASE("100 MiB of input arrive byte for byte, then the end of input") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  const std::string sent = random_bytes(100 << 20);
  std::thread peer([&] {
    write_all(jail.peer_in.get(), sent);
    jail.peer_in.reset();
  });
  const std::string received = read_to_end(jail.program_in.get());
  peer.join();
  CHECK(received == sent);
  CHECK(jail.drain().in_bytes == sent.size());
}

TEST_CASE("stdout and stderr stay apart, and each has its own totals") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  write_all(jail.program_out.get(), "out");
  write_all(jail.program_err.get(), "error");
  CHECK(read_up_to(jail.peer_out.get(), 3) == "out");
  CHECK(read_up_to(jail.peer_err.get(), 5) == "error");
  const RelayReport report = jail.drain();
  CHECK(report.out.bytes == 3);
  CHECK(report.err.bytes == 5);
  CHECK(digest_of(report.out) == sha256("out"));
  CHECK(digest_of(report.err) == sha256("error"));
}

TEST_CASE("the end of the peer's input closes the program's, and its output goes on") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  write_all(jail.peer_in.get(), "last words");
  jail.peer_in.reset();
  CHECK(read_to_end(jail.program_in.get()) == "last words");
  write_all(jail.program_out.get(), "answer");
  CHECK(read_up_to(jail.peer_out.get(), 6) == "answer");
  CHECK_FALSE(jail.hear(100).has_value());
}

TEST_CASE("without a source the program's input is at its end at once") {
  Witness witness;
  RelayOrder order = Jail::pipes();
  order.has_in = 0;
  Jail jail(witness, order);
  jail.attach();
  CHECK(at_end_within(jail.program_in.get(), kPatience));
}

TEST_CASE("a Unix stream serves as source and sink at once, with half-close") {
  Witness witness;
  Pair both = socket_pair(SOCK_STREAM);
  Jail jail(witness, Jail::pipes(), std::move(both), Input::SameAsOut);
  const Fd& peer = jail.peer_out;
  jail.attach();
  write_all(peer.get(), "question");
  CHECK(read_up_to(jail.program_in.get(), 8) == "question");
  write_all(jail.program_out.get(), "hello");
  CHECK(read_up_to(peer.get(), 5) == "hello");
  ::shutdown(peer.get(), SHUT_WR);
  CHECK(at_end_within(jail.program_in.get(), kPatience));
  write_all(jail.program_out.get(), "more");
  CHECK(read_up_to(peer.get(), 4) == "more");
}

TEST_CASE("a program that does not read its input blocks that pipe only, without cost") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  const pid_t relay = witness.relays().at(0);
  // The peer's pipe, our buffer and the jail's pipe, no more.
  CHECK(fill(jail.peer_in.get(), 1 << 20, 300) <= 3 * 65536);
  const double before = cpu_seconds(relay);
  write_all(jail.program_out.get(), "still talking");
  CHECK(read_up_to(jail.peer_out.get(), 13) == "still talking");
  ::usleep(500'000);
  CHECK(cpu_seconds(relay) - before <= 0.05);
}

TEST_CASE("a program that closes its input gets nothing more, and the peer is not held up") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  write_all(jail.peer_in.get(), "read");
  CHECK(read_up_to(jail.program_in.get(), 4) == "read");
  jail.program_in.reset();
  CHECK(fill(jail.peer_in.get(), 4 << 20, 2000) >= (4 << 20));
  write_all(jail.program_out.get(), "x");
  CHECK(read_up_to(jail.peer_out.get(), 1) == "x");
  CHECK(jail.drain().in_bytes == 4);
}

TEST_CASE("a reader that takes nothing stops the program, costs no memory and no processor") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  const pid_t relay = witness.relays().at(0);
  const std::size_t taken = fill(jail.program_out.get(), 64 << 20, 300);
  CHECK(taken <= 4 * 65536);
  const double before = cpu_seconds(relay);
  ::usleep(500'000);
  CHECK(cpu_seconds(relay) - before <= 0.05);
  CHECK(memory_kib(relay) < kMostMemoryKib);
  // And nothing is lost.
  CHECK(read_up_to(jail.peer_out.get(), taken) == std::string(taken, 'z'));
}

TEST_CASE("a slow reader gets everything while the relay's memory stays flat") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  const pid_t relay = witness.relays().at(0);
  const std::string sent = random_bytes(8 << 20);
  std::thread program([&] {
    write_all(jail.program_out.get(), sent);
    jail.program_out.reset();
  });
  std::string received;
  std::uint64_t most = 0;
  while (received.size() < sent.size()) {
    const std::string piece = read_up_to(jail.peer_out.get(), 7001);
    if (piece.empty()) break;
    received += piece;
    if (received.size() % 64 == 0) most = std::max(most, memory_kib(relay));
    if (received.size() % 256 < 3) ::usleep(200);
  }
  program.join();
  CHECK(received == sent);
  CHECK(most < kMostMemoryKib);
}

TEST_CASE("a peer that closes one sink breaks that pipe for the program; closing all of them is reported once") {
  Witness witness;
  Jail jail(witness, Jail::pipes());
  jail.attach();
  jail.peer_out.reset();
  const auto breaks = [](int fd) {
    for (int i = 0; i < 500; ++i) {
      if (::write(fd, "x", 1) < 0) return errno == EPIPE;
      ::usleep(10'000);
    }
    return false;
  };
  CHECK(breaks(jail.program_out.get()));
  CHECK_FALSE(jail.hear(100).has_value());
  write_all(jail.program_err.get(), "still here");
  CHECK(read_up_to(jail.peer_err.get(), 10) == "still here");
  jail.peer_err.reset();
  jail.expect(RelaySays::PeerGone);
  CHECK(breaks(jail.program_err.get()));
  CHECK_FALSE(jail.hear(100).has_value());
  jail.drain();
  jail.finish("nobody reads this");
  CHECK(jail.expect(RelaySays::Delivered).error == EPIPE);
}

TEST_CASE("a peer that disappears is noticed while the program is silent") {
  Witness witness;
  Jail jail(witness, Jail::pipes(), socket_pair(SOCK_STREAM));
  jail.attach();
  jail.peer_err.reset();
  jail.peer_out.reset();
  jail.expect(RelaySays::PeerGone, 1000);
}
