#include "jail/os/event_loop.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "jail/os/clock.h"

using namespace mayfly;

namespace {

constexpr Milliseconds kQuiet{20};

EventLoop make_loop() {
  auto made = EventLoop::make();
  if (!made) FAIL(made.error().text());
  return std::move(*made);
}

}  // namespace

TEST_CASE("what waits for quiet goes on as long as it wants and nothing happens") {
  EventLoop loop = make_loop();
  int wanted = 3;
  loop.when_idle(kQuiet, [&] { return --wanted > 0; });
  const Microseconds begun = monotonic_now();
  loop.after(kQuiet * 10, [&] { loop.stop(); });
  REQUIRE(loop.run());
  CHECK(wanted == 0);  // and not once more
  CHECK(monotonic_now() - begun >= kQuiet * 10);
}

TEST_CASE("nothing that waits for quiet is done while things happen") {
  EventLoop loop = make_loop();
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  int times = 0, events = 0;
  loop.when_idle(kQuiet, [&] {
    ++times;
    return true;
  });
  REQUIRE(loop.watch(ends[0], EPOLLIN, [&](std::uint32_t) {
    char byte = 0;
    REQUIRE(::read(ends[0], &byte, 1) == 1);
    if (++events == 60) loop.stop();
  }));
  std::thread writer([&] {  // and no timer in the loop, which would itself keep it from being idle
    for (int i = 0; i < 60; ++i, ::usleep(2000))
      if (::write(ends[1], "", 1) != 1) return;
  });
  REQUIRE(loop.run());
  writer.join();
  CHECK(times <= 2);  // 120 ms of events; a busy host can make a pause of its own
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("when it wants no more, only the next event makes it ask again") {
  EventLoop loop = make_loop();
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  int times = 0;
  loop.when_idle(kQuiet, [&] {
    ++times;
    return false;
  });
  REQUIRE(loop.watch(ends[0], EPOLLIN, [&](std::uint32_t) {
    char byte = 0;
    REQUIRE(::read(ends[0], &byte, 1) == 1);
  }));
  int before = 0;
  loop.after(kQuiet * 10, [&] {
    before = times;
    REQUIRE(::write(ends[1], "", 1) == 1);
  });
  loop.after(kQuiet * 20, [&] { loop.stop(); });
  REQUIRE(loop.run());
  CHECK(before == 1);
  CHECK(times == 2);
  ::close(ends[0]);
  ::close(ends[1]);
}
