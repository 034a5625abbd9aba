#include "sshd/entrance.h"

#include <catch2/catch.hpp>
#include <string>

using namespace mayfly;
using namespace mayfly::literals;

namespace {

constexpr Microseconds kStart{1'000'000'000};
constexpr std::uint32_t kLucky = 99, kUnlucky = 0;

Peer stranger(const std::string& source) { return {source + ":50000", source, source, false}; }
Peer neighbour() { return {"127.0.0.1:50000", "127.0.0.1", "127.0.0.1", true}; }
Guest guest_of(const Peer& peer) { return {peer.source, peer.loopback}; }

Entrance entrance(std::uint32_t random = kLucky, LoopbackPenalties loopback = LoopbackPenalties::Spared) {
  return {Places{}, EarlyDrop{}, loopback, [random] { return random; }};
}

// One connection of this peer that ends so.
void visit(Entrance& door, const Peer& peer, SessionEnd end, Microseconds now) {
  REQUIRE_FALSE(door.judge(peer, now));
  door.left(guest_of(peer), end, now);
}

}  // namespace

TEST_CASE("a source has 64 places before login, and one that logged in makes room", "[P42][B09]") {
  Entrance door = entrance();
  const Peer peer = stranger("192.0.2.1");
  Guest first = guest_of(peer);
  for (int i = 0; i < 64; ++i) REQUIRE_FALSE(door.judge(peer, kStart));
  CHECK(door.judge(peer, kStart) == Refusal::TooManyFromSource);
  CHECK_FALSE(door.judge(stranger("192.0.2.2"), kStart));
  door.admitted(first);
  door.admitted(first);  // saying it twice moves one connection only
  CHECK_FALSE(door.judge(peer, kStart));
  CHECK(door.judge(peer, kStart) == Refusal::TooManyFromSource);
  door.left(first, SessionEnd::Served, kStart);
  CHECK(door.judge(peer, kStart) == Refusal::TooManyFromSource);
}

TEST_CASE("where somebody of a source is in, others there may mistype, but not crash a session", "[P42]") {
  Entrance door = entrance();
  const Peer peer = stranger("192.0.2.1");
  REQUIRE_FALSE(door.judge(peer, kStart));
  Guest teacher = guest_of(peer);
  door.admitted(teacher);
  for (const SessionEnd end :
       {SessionEnd::FailedLogin, SessionEnd::GraceExceeded, SessionEnd::NeverAuthenticated, SessionEnd::EndlessTurn})
    for (int i = 0; i < 20; ++i) visit(door, peer, end, kStart);
  CHECK_FALSE(door.judge(peer, kStart));
  door.left(guest_of(peer), SessionEnd::Crashed, kStart);
  CHECK(door.judge(peer, kStart) == Refusal::Penalty);
  Entrance other = entrance();
  REQUIRE_FALSE(other.judge(peer, kStart));
  other.admitted(teacher);
  other.left(teacher, SessionEnd::Served, kStart);  // and gone again
  for (int i = 0; i < 3; ++i) visit(other, peer, SessionEnd::FailedLogin, kStart);
  CHECK(other.judge(peer, kStart) == Refusal::Penalty);
}

TEST_CASE("a class of 128 behind one address is in, the 129th is not", "[P42]") {
  Entrance door = entrance();
  const Peer peer = stranger("192.0.2.1");
  for (int i = 0; i < 128; ++i) {
    REQUIRE_FALSE(door.judge(peer, kStart));
    Guest guest = guest_of(peer);
    door.admitted(guest);
  }
  CHECK(door.judge(peer, kStart) == Refusal::TooManyFromSource);
  CHECK_FALSE(door.judge(stranger("192.0.2.2"), kStart));
}

TEST_CASE("beyond all places everybody is refused", "[P42]") {
  Entrance door = entrance();
  for (int i = 0; i < 512; ++i) {
    const Peer peer = stranger("192.0.2." + std::to_string(i / 100));
    REQUIRE_FALSE(door.judge(peer, kStart));
    Guest guest = guest_of(peer);
    door.admitted(guest);
  }
  CHECK(door.judge(stranger("198.51.100.1"), kStart) == Refusal::TooManyConnections);
}

TEST_CASE("from a hundred waiting connections on the unlucky are dropped, from three hundred on everybody",
          "[P42][B09]") {
  Entrance lucky = entrance(kLucky);
  Entrance unlucky = entrance(kUnlucky);
  const auto peer = [](int i) { return stranger("198.51.100." + std::to_string(i)); };
  for (int i = 0; i < 100; ++i) {
    CHECK_FALSE(unlucky.judge(peer(i), kStart));
    CHECK_FALSE(lucky.judge(peer(i), kStart));
  }
  CHECK(unlucky.judge(peer(100), kStart) == Refusal::EarlyDrop);
  for (int i = 100; i < 300; ++i) CHECK_FALSE(lucky.judge(peer(i), kStart));
  CHECK(lucky.judge(peer(300), kStart) == Refusal::EarlyDrop);
  lucky.left(guest_of(peer(7)), SessionEnd::Served, kStart);
  CHECK_FALSE(lucky.judge(peer(300), kStart));
}

TEST_CASE("the share that is dropped grows evenly", "[B09]") {
  constexpr EarlyDrop rule{100, 30, 300};
  STATIC_REQUIRE(rule.percent(0) == 0);
  STATIC_REQUIRE(rule.percent(99) == 0);
  STATIC_REQUIRE(rule.percent(100) == 30);
  STATIC_REQUIRE(rule.percent(200) == 65);
  STATIC_REQUIRE(rule.percent(299) == 99);
  STATIC_REQUIRE(rule.percent(300) == 100);
  STATIC_REQUIRE(rule.percent(4'000'000'000) == 100);
  unsigned dropped = 0;
  for (std::uint32_t random = 0; random < 1000; ++random) dropped += rule.drops(200, random) ? 1 : 0;
  CHECK(dropped == 650);
}

TEST_CASE("who fails to log in three times is kept out, and others are not", "[P42]") {
  Entrance door = entrance();
  const Peer peer = stranger("192.0.2.1");
  visit(door, peer, SessionEnd::FailedLogin, kStart);
  visit(door, peer, SessionEnd::FailedLogin, kStart);
  visit(door, peer, SessionEnd::FailedLogin, kStart);
  CHECK(door.judge(peer, kStart) == Refusal::Penalty);
  CHECK_FALSE(door.judge(stranger("192.0.2.2"), kStart));
  CHECK(door.judge(peer, kStart + 14_s) == Refusal::Penalty);
  CHECK_FALSE(door.judge(peer, kStart + 15_s));
}

TEST_CASE("who has logged in is not judged by its end, unless it crashes its session") {
  Entrance door = entrance();
  const Peer peer = stranger("192.0.2.1");
  for (const SessionEnd end : {SessionEnd::GraceExceeded, SessionEnd::BadProtocol, SessionEnd::FailedLogin}) {
    for (int i = 0; i < 20; ++i) {
      REQUIRE_FALSE(door.judge(peer, kStart));
      Guest guest = guest_of(peer);
      door.admitted(guest);
      door.left(guest, end, kStart);
    }
  }
  REQUIRE_FALSE(door.judge(peer, kStart));
  Guest guest = guest_of(peer);
  door.admitted(guest);
  door.left(guest, SessionEnd::Crashed, kStart);
  CHECK(door.judge(peer, kStart + 89_s) == Refusal::Penalty);
  CHECK_FALSE(door.judge(peer, kStart + 90_s));
  // The turn without end of who was in alone.
  guest = guest_of(peer);
  door.admitted(guest);
  door.left(guest, SessionEnd::EndlessTurn, kStart + 90_s);
  CHECK(door.judge(peer, kStart + 91_s) == Refusal::Penalty);
}

TEST_CASE("peers on loopback have no penalties unless asked for") {
  Entrance spared = entrance();
  Entrance given = entrance(kLucky, LoopbackPenalties::Given);
  visit(spared, neighbour(), SessionEnd::Crashed, kStart);
  visit(given, neighbour(), SessionEnd::Crashed, kStart);
  CHECK_FALSE(spared.judge(neighbour(), kStart));
  CHECK(given.judge(neighbour(), kStart) == Refusal::Penalty);
}

TEST_CASE("refusals are counted by reason, in all and since they were last told") {
  Refusals refusals;
  refusals.note(Refusal::Penalty);
  refusals.note(Refusal::EarlyDrop);
  refusals.note(Refusal::Penalty);
  CHECK(refusals.is_anything_untold());
  const RefusalCounts told = refusals.take_untold();
  CHECK(told.of(Refusal::Penalty) == 2);
  CHECK(told.of(Refusal::EarlyDrop) == 1);
  CHECK(told.of(Refusal::NoDescriptors) == 0);
  CHECK_FALSE(refusals.is_anything_untold());
  refusals.note(Refusal::Penalty);
  CHECK(refusals.take_untold().all() == 1);
  CHECK(refusals.total().of(Refusal::Penalty) == 3);
  CHECK(refusals.total().all() == 4);
}
