#include <catch2/catch.hpp>
#include <csignal>

#include "sshd/session/channel_port.h"
#include "sshd/session/deadlines.h"
#include "sshd/session/key_exchanges.h"

using namespace mayfly;

namespace {
constexpr Microseconds kStart{1'000'000'000};
}

TEST_CASE("who has not logged in twenty seconds after the accept is late, whatever came meanwhile", "[P42][B08]") {
  Deadlines deadlines(kStart);
  CHECK(deadlines.next() == kStart + kLoginGrace);
  deadlines.heard(kStart + 19_s);
  CHECK(deadlines.due(kStart + 19_s) == Due::Nothing);
  CHECK(deadlines.due(kStart + 20_s) == Due::LoginTooSlow);
}

TEST_CASE("a silent peer is asked twice and given up at the end of the third quarter of a minute", "[P08][B32]") {
  Deadlines deadlines(kStart);
  deadlines.admitted();
  CHECK(deadlines.due(kStart + 14_s) == Due::Nothing);
  CHECK(deadlines.due(kStart + 15_s) == Due::Keepalive);
  CHECK(deadlines.due(kStart + 15_s) == Due::Nothing);
  CHECK(deadlines.due(kStart + 30_s) == Due::Keepalive);
  CHECK(deadlines.due(kStart + 44_s) == Due::Nothing);
  CHECK(deadlines.due(kStart + 45_s) == Due::PeerSilent);
}

TEST_CASE("any packet starts the count of silence anew") {
  Deadlines deadlines(kStart);
  deadlines.admitted();
  CHECK(deadlines.due(kStart + 15_s) == Due::Keepalive);
  CHECK(deadlines.due(kStart + 30_s) == Due::Keepalive);
  deadlines.heard(kStart + 31_s);
  CHECK(deadlines.due(kStart + 45_s) == Due::Nothing);
  CHECK(deadlines.due(kStart + 46_s) == Due::Keepalive);
}

TEST_CASE("a connection without a channel is closed after ten minutes", "[B35]") {
  Deadlines deadlines(kStart);
  deadlines.admitted();
  deadlines.used(kStart + 1_min);
  deadlines.heard(kStart + 11_min);
  CHECK(deadlines.due(kStart + 11_min) == Due::Unused);
}

TEST_CASE("terminal sizes are clamped, and a size of zero is the usual one", "[B24]") {
  CHECK(clamp_size(100, 30) == TerminalSize{100, 30});
  CHECK(clamp_size(0, 0) == TerminalSize{80, 24});
  CHECK(clamp_size(5000, 2000) == TerminalSize{1000, 1000});
  CHECK(clamp_size(-1, -1) == TerminalSize{1000, 1000});  // 2^32-1 on the wire
}

TEST_CASE("only signals that mean something to a program are passed on", "[B30]") {
  CHECK(signal_wished("TERM") == SIGTERM);
  CHECK(signal_wished("INT") == SIGINT);
  CHECK(signal_wished("USR1") == SIGUSR1);
  for (const char* name : {"", "STOP", "SIGTERM", "term", "9", "CHLD", "RTMIN", "TERM\n", "../KILL"}) {
    INFO(name);
    CHECK_FALSE(signal_wished(name));
  }
}

TEST_CASE("new keys for nothing are made thirty-two times at once and once a second after that", "[B14]") {
  KeyExchanges exchanges(kStart);
  for (std::uint64_t made = 1; made <= 32; ++made) exchanges.look(made, made * 1000, kStart);
  CHECK_FALSE(exchanges.are_too_many());
  for (std::uint64_t made = 33; made <= 132; ++made)
    exchanges.look(made, made * 1000, kStart + Milliseconds(1_s) * (made - 32));
  CHECK_FALSE(exchanges.are_too_many());
  exchanges.look(133, 133'000, kStart + 100_s);
  CHECK(exchanges.are_too_many());
}

TEST_CASE("new keys after bytes that needed them are never too many", "[B14][B15]") {
  KeyExchanges exchanges(kStart);
  for (std::uint64_t made = 1; made <= 10'000; ++made) exchanges.look(made, made * 128 * 1024, kStart);
  CHECK_FALSE(exchanges.are_too_many());
  // What went before the last exchange does not pay for the next ones.
  for (std::uint64_t made = 10'001; made <= 10'032; ++made) exchanges.look(made, 10'000 * 128 * 1024, kStart);
  CHECK_FALSE(exchanges.are_too_many());
  exchanges.look(10'033, 10'000 * 128 * 1024, kStart);
  CHECK(exchanges.are_too_many());
}

TEST_CASE("an hour without new keys allows no more of them at once", "[B14]") {
  KeyExchanges exchanges(kStart);
  for (std::uint64_t made = 1; made <= 33; ++made) exchanges.look(made, 0, kStart + 60_min);
  CHECK(exchanges.are_too_many());
}
