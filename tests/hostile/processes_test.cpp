#include <catch2/catch.hpp>

#include "tests/hostile/arena.h"

using namespace mayfly;
using namespace mayfly::test;

namespace {

// 64 by default, and pid 1 and the program are two of them.
constexpr long kOthers = 62;

void expect_bounded(const Outcome& inside, const char* call, long made) {
  INFO(inside.story());
  CHECK(inside.lines.of(call) == "EAGAIN");
  CHECK(made == kOthers);
  if (arena().has_cgroups()) CHECK(inside.reached(LimitReached::Processes));
}

}  // namespace

TEST_CASE("A01 a fork bomb stops at the process limit and is gone at once", "[P06]") {
  CHECK(arena().control({"fork_bomb", "200"}).lines.number("made") == 200);
  const Outcome inside = arena().attack({.program = "fork_bomb"});
  CHECK(inside.exited(0));
  expect_bounded(inside, "fork", inside.lines.number("made"));
  CHECK(inside.result.metrics.closed < std::chrono::seconds(1));
}

TEST_CASE("A01 a chain of processes stops at the process limit", "[P06]") {
  CHECK(arena().control({"fork_chain", "200"}).lines.number("depth") == 200);
  const Outcome inside = arena().attack({.program = "fork_chain"});
  expect_bounded(inside, "fork", inside.lines.number("depth"));
}

TEST_CASE("A01 threads count as processes", "[P06]") {
  CHECK(arena().control({"thread_bomb", "200"}).lines.number("made") == 200);
  const Outcome inside = arena().attack({.program = "thread_bomb"});
  CHECK(inside.exited(0));
  expect_bounded(inside, "clone", inside.lines.number("made"));
}

TEST_CASE("A26 a tree that keeps forking while it is killed is gone within two seconds", "[P07]") {
  Attack tree{.program = "fork_tree"};
  tree.limits.wall_ms = 2000;
  const Outcome inside = arena().attack(tree);
  INFO(inside.story());
  CHECK(inside.ended(Ending::TimeLimit));
  CHECK(inside.result.metrics.wall < std::chrono::seconds(4));
  CHECK(inside.result.metrics.closed < std::chrono::seconds(2));
}

TEST_CASE("A14 jails that use up their processes do not keep another from starting", "[P06]") {
  Attack tree{.program = "fork_tree"};
  tree.limits.wall_ms = 3000;
  Attack small{.program = "fork_bomb", .arguments = {"20"}};
  const std::vector<Outcome> outcomes = arena().attack_all({tree, tree, small});
  INFO(outcomes[2].story());
  CHECK(outcomes[2].exited(0));
  CHECK(outcomes[2].lines.number("made") == 20);
}

TEST_CASE("A68 pid 1 reaps a flood of orphans and cannot be stopped", "[P07]") {
  CHECK(arena().control({"orphan_flood", "200"}).lines.number("orphans") == 200);
  const Outcome inside = arena().attack({.program = "orphan_flood", .arguments = {"300", "and stop pid 1"}});
  INFO(inside.story());
  CHECK(inside.exited(0));
  CHECK(inside.lines.number("orphans") == 300);
}

TEST_CASE("A24 a jail ends with its main program, whoever still holds its output", "[P07]") {
  const Outcome inside = arena().attack({.program = "holds_stdout"});
  INFO(inside.story());
  CHECK(inside.lines.of("left") == "behind");
  CHECK(inside.exited(7));
  CHECK(inside.result.metrics.wall < std::chrono::seconds(3));
}

TEST_CASE("A25 a program that ignores every signal ends at the wall limit", "[P06][P07]") {
  CHECK(WEXITSTATUS(arena().control({"ignores_signals", "1"}).status) == 0);
  Attack deaf{.program = "ignores_signals"};
  deaf.limits.wall_ms = 1500;
  const Outcome inside = arena().attack(deaf);
  INFO(inside.story());
  CHECK(inside.ended(Ending::TimeLimit));
  CHECK(inside.result.metrics.wall < std::chrono::milliseconds(2500));
}

TEST_CASE("A25 a program that ignores every signal ends when its peer cancels", "[P07]") {
  bool cancelled = false;
  const auto cancel = [&cancelled](EngineRuns& runs, RunNumber number) {
    if (cancelled || runs.run(number).out.find("begun") == std::string::npos) return;
    cancelled = runs.cancel(number).has_value();
  };
  const Outcome inside = arena().attack_while({.program = "ignores_signals"}, cancel);
  INFO(inside.story());
  CHECK(inside.ended(Ending::Cancelled));
  CHECK(inside.result.metrics.wall < std::chrono::seconds(4));
}

TEST_CASE("A27 a main program that stops itself ends at the wall limit", "[P06]") {
  Attack stopped{.program = "stops_itself"};
  stopped.limits.wall_ms = 1500;
  const Outcome inside = arena().attack(stopped);
  INFO(inside.story());
  CHECK(inside.ended(Ending::TimeLimit));
  CHECK(inside.result.metrics.wall < std::chrono::milliseconds(2500));
}

TEST_CASE("A34 other processes are neither traced nor read, pid 1 least of all", "[P11]") {
  const OutsideRun control = arena().control({"trace_others", "self"});
  if (arena().as_root()) CHECK(control.lines.named_with("ok") == "kcmp pidfd_getfd prlimit seize vm_read vm_write");
  const Outcome inside = arena().attack({.program = "trace_others"});
  INFO(inside.story());
  CHECK(inside.lines.named_with("EPERM") == "kcmp pidfd_getfd prlimit seize vm_read vm_write");
}

TEST_CASE("A34 A61 nothing of pid 1 can be opened", "[P12]") {
  const OutsideRun control = arena().control({"memory_of_init", "self"});
  if (arena().as_root()) CHECK(control.lines.of("environ") == "ok");
  const Outcome inside = arena().attack({.program = "memory_of_init"});
  INFO(inside.story());
  CHECK(inside.lines.count() == 8);
  // Which of the two the kernel says depends on whether it has looked for pid 1 in this procfs before.
  const std::string absent = inside.lines.named_with("ENOENT"), closed = inside.lines.named_with("EPERM");
  CHECK((absent.empty() ? closed : absent) == "cwd environ exe fd/0 maps mem root stack");
}

TEST_CASE("A35 a kill of everybody reaches the own jail and no other, and the status is still right", "[P01]") {
  CHECK(arena().control({"kill_everybody"}).lines.of("bystander") == "15");
  const Outcome inside = arena().attack({.program = "kill_everybody"});
  INFO(inside.story());
  CHECK(inside.lines.of("bystander") == "15");
  // kill(2) may say "ok" of pid 1: the kernel drops what a namespace's init has no handler for.
  CHECK(inside.exited(9));
}

TEST_CASE("A31 exit codes are told apart, also those that mean something elsewhere", "[P31]") {
  for (const int code : {0, 1, 7, 124, 125, 126, 127, 128, 137, 255}) {
    const Outcome inside = arena().attack({.program = "exit_with", .arguments = {std::to_string(code)}});
    INFO(inside.story());
    CHECK(inside.exited(code));
  }
}

TEST_CASE("A31 deaths by signals are told apart, real-time signals too", "[P31]") {
  for (const int number : {1, 2, 6, 9, 11, 15, 24, 31, 34, 64}) {
    const Outcome inside = arena().attack({.program = "die_of", .arguments = {std::to_string(number)}});
    INFO(inside.story());
    CHECK(inside.ended(Ending::Signalled));
    CHECK(inside.result.signal_number == number);
    CHECK_FALSE(inside.result.exit_code);
  }
}

TEST_CASE("A32 a command that is missing or cannot be run is not confused with one that exits 126 or 127", "[P31]") {
  for (const char* command : {"/usr/bin/no-such-program", "/etc/passwd"}) {
    Attack missing;
    missing.command = {command};
    const Outcome inside = arena().attack(missing);
    INFO(inside.story());
    CHECK(inside.ended(Ending::Failed));
    CHECK(inside.result.failed_step == Step::Execute);
    CHECK_FALSE(inside.result.exit_code);
  }
}
