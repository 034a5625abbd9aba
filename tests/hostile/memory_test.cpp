#include <catch2/catch.hpp>

#include "tests/hostile/arena.h"

using namespace mayfly;
using namespace mayfly::test;

namespace {

// Each must end with the jail's memory and not with ours: the arena's canaries and base line say so.
void expect_memory_limit(const char* program) {
  if (!arena().has_cgroups()) {  // nothing would hold it: not let loose at all
    WARN("not provable on this host: no memory control group");
    return;
  }
  const Outcome inside = arena().attack({.program = program});
  INFO(program << ": " << inside.story());
  CHECK(inside.ended(Ending::MemoryLimit));
  CHECK(inside.result.metrics.closed < std::chrono::seconds(2));
  REQUIRE(inside.result.metrics.memory_peak.value);
  CHECK(inside.result.metrics.memory_peak.value->count <= inside.result.limits.memory.count);
}

}  // namespace

TEST_CASE("A03 A04 one process that takes all memory ends its jail at the memory limit", "[P06][cgroup]") {
  CHECK(arena().control({"memory_one", "64"}).lines.number("megabytes") == 64);
  expect_memory_limit("memory_one");
}

TEST_CASE("A03 memory spread over many processes ends the jail at the memory limit", "[P06][cgroup]") {
  CHECK(arena().control({"memory_many", "8"}).lines.number("made") == 40);
  expect_memory_limit("memory_many");
}

TEST_CASE("A06 A11 memory parked in a memfd is the jail's own", "[P06][cgroup]") {
  CHECK(arena().control({"memory_memfd", "64"}).lines.number("megabytes") == 64);
  expect_memory_limit("memory_memfd");
}

TEST_CASE("A10 A11 memory parked in System V segments is the jail's own and gone with it", "[P06][cgroup]") {
  CHECK(arena().control({"memory_shm", "64"}).lines.number("megabytes") == 64);
  expect_memory_limit("memory_shm");
}

TEST_CASE("A11 memory is not locked, and secret memory does not exist", "[P06]") {
  if (arena().as_root()) CHECK(arena().control({"memory_locked"}).lines.of("mlock") == "ok");
  const Outcome inside = arena().attack({.program = "memory_locked"});
  INFO(inside.story());
  CHECK(inside.exited(0));
  CHECK(inside.lines.of("mlock") != "ok");
  CHECK(inside.lines.of("memfd_secret") == "ENOSYS");
}

TEST_CASE("A05 A15 pipes stay at their usual size, and their number is the open files'", "[P06]") {
  const OutsideRun control = arena().control({"pipe_memory", "8"});
  CHECK(control.lines.of("setpipe") == "ok");
  const Outcome inside = arena().attack({.program = "pipe_memory"});
  INFO(inside.story());
  CHECK(inside.lines.of("setpipe") == "EPERM");
  CHECK(inside.lines.of("pipe") == "EMFILE");
  CHECK(inside.lines.number("enlarged") == 0);
  CHECK(inside.lines.number("kilobytes") <= 64 * inside.lines.number("made"));
}

TEST_CASE("A15 jails that fill pipes do not shrink the pipes of others", "[P06]") {
  const Attack pipes{.program = "pipe_memory"};
  const std::vector<Outcome> outcomes = arena().attack_all({pipes, pipes, pipes, pipes});
  for (const Outcome& inside : outcomes) {
    INFO(inside.story());
    // One of its pipes holds 64 KiB; the soft limit of a shared user would leave 4 KiB a pipe.
    CHECK(inside.lines.number("kilobytes") == 64 * inside.lines.number("made"));
  }
}

TEST_CASE("A05 descriptors in flight are bounded by the limit of open files", "[P06]") {
  CHECK(arena().control({"fds_in_flight", "200"}).lines.number("parked") == 200);
  const Outcome inside = arena().attack({.program = "fds_in_flight"});
  INFO(inside.story());
  CHECK(inside.lines.of("park") == "ETOOMANYREFS");
  CHECK(inside.lines.number("parked") <= 257);
}

TEST_CASE("A12 open files end at their limit, inside only", "[P06]") {
  CHECK(arena().control({"open_files", "200"}).lines.number("opened") == 200);
  const Outcome inside = arena().attack({.program = "open_files"});
  INFO(inside.story());
  CHECK(inside.exited(0));
  CHECK(inside.lines.of("open") == "EMFILE");
  CHECK(inside.lines.number("opened") == 256 - 3);
  CHECK(inside.lines.number("children") == 20);
}

TEST_CASE("A23 timers are bounded, and a jail full of them is gone at once", "[P06]") {
  CHECK(arena().control({"timer_flood", "200"}).lines.number("made") == 200);
  const Outcome inside = arena().attack({.program = "timer_flood"});
  INFO(inside.story());
  CHECK(inside.exited(0));
  CHECK(inside.lines.of("timer_create") == "EAGAIN");
  CHECK(inside.result.metrics.closed < std::chrono::seconds(1));
}

TEST_CASE("A10 message queues and semaphores are bounded and gone with the jail", "[P06]") {
  CHECK(arena().control({"ipc_flood", "5"}).lines.number("semaphores") == 5);
  const Outcome inside = arena().attack({.program = "ipc_flood"});
  INFO(inside.story());
  CHECK((inside.exited(0) || inside.ended(Ending::MemoryLimit)));
  CHECK(inside.lines.number("posix") < 1000);
}

TEST_CASE("A05 what is under way in a jail's sockets is bounded", "[P06]") {
  CHECK(arena().control({"socket_memory", "4"}).lines.number("kilobytes") > 4 * 256);
  const Outcome inside = arena().attack({.program = "socket_memory"});
  INFO(inside.story());
  CHECK(inside.lines.number("connections") > 3);
  CHECK(inside.lines.number("kilobytes") < 100 * 1024);
  // v1 counts it apart from other memory, 32 MiB at most.
  if (inside.result.controls.at(Control::Memory) == Measured::CgroupV1)
    CHECK(inside.lines.number("kilobytes") < 33 * 1024);
}

TEST_CASE("A05 connections that nobody accepts are few", "[P06]") {
  if (arena().as_root()) CHECK(arena().control({"accept_queues", "200"}).lines.number("queued") > 100);
  const Outcome inside = arena().attack({.program = "accept_queues"});
  INFO(inside.story());
  CHECK(inside.lines.number("queued") >= 16);
  CHECK(inside.lines.number("queued") < 40);
}
