#include "sshd/session/warnings.h"

#include <catch2/catch.hpp>

using namespace mayfly;

namespace {

constexpr Microseconds kStart{1'000'000'000};

Limits limits(Milliseconds wall, Milliseconds idle) {
  Limits all = kShellLimits.defaults;
  all.wall = wall;
  all.idle = idle;
  return all;
}

}  // namespace

TEST_CASE("one minute before the wall limit there is one warning, and only one") {
  Warnings warnings(limits(60_min, 0_s), kStart);
  CHECK(warnings.next() == kStart + 59_min);
  CHECK(warnings.due(kStart + 59_min - 1_ms) == Warning::Nothing);
  CHECK(warnings.due(kStart + 59_min) == Warning::WallLimit);
  CHECK(warnings.due(kStart + 59_min) == Warning::Nothing);
  CHECK_FALSE(warnings.next());
  warnings.given_input(1, kStart + 59_min + 1_s);
  CHECK(warnings.due(kStart + 61_min) == Warning::Nothing);
}

TEST_CASE("each silence has one warning, one minute before it is the idle limit") {
  Warnings warnings(limits(60_min, 15_min), kStart);
  CHECK(warnings.next() == kStart + 14_min);
  CHECK(warnings.due(kStart + 14_min - 1_ms) == Warning::Nothing);
  CHECK(warnings.due(kStart + 14_min) == Warning::IdleLimit);
  CHECK(warnings.due(kStart + 14_min + 30_s) == Warning::Nothing);
  CHECK(warnings.next() == kStart + 59_min);  // nothing more to say of this silence
  warnings.given_input(3, kStart + 14_min + 40_s);
  CHECK(warnings.next() == kStart + 28_min + 40_s);
  CHECK(warnings.due(kStart + 28_min + 40_s) == Warning::IdleLimit);
}

TEST_CASE("only input that arrived puts the idle warning off") {
  Warnings warnings(limits(60_min, 15_min), kStart);
  warnings.given_input(0, kStart + 10_min);
  CHECK(warnings.next() == kStart + 14_min);
  warnings.given_input(7, kStart + 11_min);
  CHECK(warnings.next() == kStart + 25_min);
  warnings.given_input(7, kStart + 20_min);  // nothing new since
  CHECK(warnings.next() == kStart + 25_min);
}

TEST_CASE("nobody is asked to type when the wall limit is due first") {
  Warnings warnings(limits(60_min, 15_min), kStart);
  warnings.given_input(1, kStart + 45_min);  // silent from here on, both limits are due in the same moment
  CHECK(warnings.next() == kStart + 59_min);
  CHECK(warnings.due(kStart + 59_min) == Warning::WallLimit);
  CHECK(warnings.due(kStart + 60_min) == Warning::Nothing);
}

TEST_CASE("who looks late is still told both, one at a time") {
  Warnings warnings(limits(60_min, 15_min), kStart);
  warnings.given_input(1, kStart + 44_min);
  CHECK(warnings.due(kStart + 59_min + 10_s) == Warning::WallLimit);
  CHECK(warnings.next() == kStart + 58_min);
  CHECK(warnings.due(kStart + 59_min + 10_s) == Warning::IdleLimit);
  CHECK_FALSE(warnings.next());
}

TEST_CASE("a limit below two minutes has no warning, and one of two minutes has") {
  CHECK_FALSE(Warnings(limits(2_min - 1_ms, 0_s), kStart).next());
  CHECK(Warnings(limits(2_min, 0_s), kStart).next() == kStart + 1_min);
  CHECK(Warnings(limits(60_min, 2_min - 1_ms), kStart).next() == kStart + 59_min);
  CHECK(Warnings(limits(60_min, 2_min), kStart).next() == kStart + 1_min);
}

TEST_CASE("the lead is one minute unless another is given, and the floor is twice the lead") {
  CHECK(Warnings(limits(10_s, 0_s), kStart, 3_s).next() == kStart + 7_s);
  CHECK_FALSE(Warnings(limits(5_s, 0_s), kStart, 3_s).next());
}
