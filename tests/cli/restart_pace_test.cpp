#include "jail/cli/restart_pace.h"

#include <catch2/catch.hpp>

using namespace mayfly;
using std::chrono::seconds;

TEST_CASE("a process that lived long is started again at once") {
  RestartPace pace;
  pace.started(Microseconds{0});
  CHECK(pace.delay(seconds(100)) == Milliseconds{0});
}

TEST_CASE("one that dies at its start waits longer each time, and never longer than half a minute") {
  RestartPace pace;
  Microseconds now{0};
  Milliseconds before{0}, total{0};
  for (int death = 0; death < 20; ++death) {
    pace.started(now);
    const Milliseconds wait = pace.delay(now + Milliseconds{10});
    if (death > 0) CHECK(wait >= before);
    CHECK(wait <= RestartPace::kMost);
    before = wait;
    now += wait + Milliseconds{10};
    total += wait;
  }
  CHECK(before == RestartPace::kMost);
  CHECK(total > seconds(200));  // twenty deaths are spread over minutes
}

TEST_CASE("a long life clears the slate") {
  RestartPace pace;
  for (int death = 0; death < 10; ++death) {
    pace.started(Microseconds{0});
    pace.delay(Milliseconds{1});
  }
  pace.started(Microseconds{0});
  CHECK(pace.delay(RestartPace::kHealthy) == Milliseconds{0});
}
