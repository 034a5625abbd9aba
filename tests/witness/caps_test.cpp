#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "stage.h"

using namespace mayfly;
using namespace mayfly::stage;

namespace {

std::string numbers(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; text.size() < count; ++i) text += std::to_string(i) + "\n";
  text.resize(count);
  return text;
}

RelayOrder capped(std::uint64_t kept) {
  RelayOrder order = Jail::pipes();
  order.output_kept = kept;
  return order;
}

}  // namespace

TEST_CASE("a cap passes on the head, keeps the tail, counts and digests all, and never stops the program") {
  Witness witness;
  Jail jail(witness, capped(1000));
  jail.attach();
  const std::string written = numbers(3 << 20);
  // Nobody reads: what is over the cap must not depend on the peer.
  REQUIRE(write_all(jail.program_out.get(), written));
  REQUIRE(write_all(jail.program_err.get(), "short"));
  const RelayReport report = jail.drain();
  CHECK(report.out.truncated == 1);
  CHECK(report.out.bytes == written.size());
  CHECK(digest_of(report.out) == sha256(written));
  CHECK(tail_of(report.out) == written.substr(written.size() - 8192));
  CHECK(report.err.truncated == 0);
  CHECK(report.err.tail_length == 0);
  jail.finish("");
  CHECK(read_to_end(jail.peer_out.get()) == written.substr(0, 1000));
  CHECK(read_to_end(jail.peer_err.get()) == "short");
}

TEST_CASE("output of exactly the cap is whole; one byte more is a cut that shows") {
  Witness witness;
  const std::size_t more = GENERATE(0u, 1u, 100u);
  Jail jail(witness, capped(5000));
  jail.attach();
  const std::string written = numbers(5000 + more);
  write_all(jail.program_out.get(), written);
  const RelayReport report = jail.drain();
  CHECK(report.out.truncated == (more > 0 ? 1 : 0));
  CHECK(tail_of(report.out) == written.substr(5000));
  CHECK(report.out.bytes == written.size());
  jail.finish("");
  CHECK(read_to_end(jail.peer_out.get()) == written.substr(0, 5000));
}

TEST_CASE("a cap larger than the buffer is kept whole when the reader is slow") {
  Witness witness;
  Jail jail(witness, capped(1 << 20));
  jail.attach();
  const std::string written = numbers(5 << 20);
  std::thread program([&] { write_all(jail.program_out.get(), written); });
  ::usleep(200'000);
  const std::string head = read_up_to(jail.peer_out.get(), 1 << 20);
  program.join();
  CHECK(head == written.substr(0, 1 << 20));
  const RelayReport report = jail.drain();
  CHECK(report.out.bytes == written.size());
  CHECK(tail_of(report.out) == written.substr(written.size() - 8192));
}

TEST_CASE("more output than the ceiling is reported once, over both streams, and swallowed until the drain") {
  Witness witness;
  RelayOrder order = Jail::pipes();
  order.output_ceiling = 100'000;
  Jail jail(witness, order);
  jail.attach();
  const std::string first = numbers(59'999) + "\n", second = numbers(60'000);
  write_all(jail.program_err.get(), first);
  CHECK(read_up_to(jail.peer_err.get(), first.size()) == first);
  CHECK_FALSE(jail.hear(100).has_value());
  std::string received;
  std::thread peer([&] { received = read_to_end(jail.peer_out.get()); });
  write_all(jail.program_out.get(), second);
  jail.expect(RelaySays::Ceiling);
  const std::string flood = numbers(4 << 20);
  REQUIRE(write_all(jail.program_out.get(), flood));
  CHECK_FALSE(jail.hear(100).has_value());
  const RelayReport report = jail.drain();
  CHECK(report.out.truncated == 1);
  CHECK(report.out.bytes == second.size() + flood.size());
  CHECK(digest_of(report.out) == sha256(second + flood));
  CHECK(tail_of(report.out) == flood.substr(flood.size() - 8192));
  jail.finish("mayfly: ending=output-limit jail=j_test: too much");
  peer.join();
  CHECK(received == second.substr(0, 40'000));
  CHECK(read_to_end(jail.peer_err.get()) == "mayfly: ending=output-limit jail=j_test: too much\n");
}
