#include "sshd/penalties.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <string>

using namespace mayfly;
using namespace mayfly::literals;

namespace {
constexpr Microseconds kStart{1'000'000'000};
}

TEST_CASE("a penalty below fifteen seconds refuses nobody, and adds up") {
  Penalties penalties(10);
  penalties.add("a", 10_s, kStart);
  CHECK_FALSE(penalties.refuses("a", kStart));
  penalties.add("a", 4999_ms, kStart);
  CHECK_FALSE(penalties.refuses("a", kStart));
  penalties.add("a", 1_ms, kStart);
  CHECK(penalties.refuses("a", kStart));
  CHECK_FALSE(penalties.refuses("b", kStart));
}

TEST_CASE("a penalty passes second by second, and what is over does not add up", "[P42]") {
  Penalties penalties(10);
  penalties.add("a", 10_s, kStart);
  penalties.add("a", 10_s, kStart + 6_s);  // 4 s were left
  CHECK_FALSE(penalties.refuses("a", kStart + 6_s));
  penalties.add("a", 1_s, kStart + 6_s);
  CHECK(penalties.refuses("a", kStart + 6_s));
  CHECK(penalties.refuses("a", kStart + 20_s));  // once enforced, to its end
  CHECK_FALSE(penalties.refuses("a", kStart + 21_s));
  penalties.add("a", 5_s, kStart + 21_s);
  CHECK_FALSE(penalties.refuses("a", kStart + 21_s));
}

TEST_CASE("a penalty is ten minutes at most") {
  Penalties penalties(10);
  for (int i = 0; i < 100; ++i) penalties.add("a", 90_s, kStart);
  CHECK(penalties.refuses("a", kStart + 599_s));
  CHECK_FALSE(penalties.refuses("a", kStart + 600_s));
}

TEST_CASE("a full table lets go of the penalty that would be over first") {
  Penalties penalties(3);
  penalties.add("short", 20_s, kStart);
  penalties.add("long", 90_s, kStart);
  penalties.add("longer", 100_s, kStart);
  penalties.add("new", 30_s, kStart);
  CHECK(penalties.sources() == 3);
  CHECK_FALSE(penalties.refuses("short", kStart));
  for (const char* source : {"long", "longer", "new"}) CHECK(penalties.refuses(source, kStart));
  penalties.add("short", 1_s, kStart);  // is itself the first to be over
  CHECK(penalties.sources() == 3);
  CHECK(penalties.refuses("new", kStart));
}

TEST_CASE("penalties that are over leave nothing behind") {
  Penalties penalties(1000);
  for (int i = 0; i < 500; ++i) penalties.add("a" + std::to_string(i), 1_s, kStart);
  CHECK(penalties.sources() == 500);
  penalties.add("b", 1_s, kStart + 1_s);
  CHECK(penalties.sources() == 1);
}

TEST_CASE("a bad end costs what it does at OpenSSH") {
  constexpr Standing no = Standing::Unauthenticated;
  CHECK(penalty::for_end(SessionEnd::Crashed, no) == 90_s);
  CHECK(penalty::for_end(SessionEnd::EndlessTurn, Standing::Authenticated) == 90_s);
  CHECK(penalty::for_end(SessionEnd::GraceExceeded, no) == 10_s);
  CHECK(penalty::for_end(SessionEnd::FailedLogin, no) == 5_s);
  CHECK(penalty::for_end(SessionEnd::NeverAuthenticated, no) == 1_s);
  CHECK(penalty::for_end(SessionEnd::BadProtocol, no) == 1_s);
  CHECK(penalty::for_end(SessionEnd::Served, no) == 0_s);
  CHECK(penalty::for_end(SessionEnd::OwnFailure, no) == 0_s);
}

TEST_CASE("how a session ended is what it said, or the signal that ended it") {
  const auto exits = [](int status) { return session_end(W_EXITCODE(status, 0)); };
  const auto dies_of = [](int signal) { return session_end(W_EXITCODE(0, signal)); };
  for (const SessionEnd end : {SessionEnd::Served, SessionEnd::OwnFailure, SessionEnd::NeverAuthenticated,
                               SessionEnd::FailedLogin, SessionEnd::GraceExceeded, SessionEnd::BadProtocol})
    CHECK(exits(static_cast<int>(end)) == end);
  CHECK(exits(6) == SessionEnd::OwnFailure);
  CHECK(exits(127) == SessionEnd::OwnFailure);
  CHECK(exits(255) == SessionEnd::OwnFailure);  // nobody says of itself that it crashed
  CHECK(dies_of(SIGALRM) == SessionEnd::GraceExceeded);
  CHECK(dies_of(SIGPROF) == SessionEnd::EndlessTurn);
  for (const int signal : {SIGSEGV, SIGABRT, SIGSYS, SIGBUS, SIGXCPU}) CHECK(dies_of(signal) == SessionEnd::Crashed);
  for (const int signal : {SIGTERM, SIGKILL, SIGINT, SIGHUP}) CHECK(dies_of(signal) == SessionEnd::OwnFailure);
}
