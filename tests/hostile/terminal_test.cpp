#include <catch2/catch.hpp>

#include "tests/hostile/arena.h"

using namespace mayfly;
using namespace mayfly::test;

TEST_CASE("A51 nothing is typed into a terminal, on a terminal or without one", "[P11]") {
  const OutsideRun control = arena().control({"terminal"});
  if (control.lines.of("slave.TIOCSTI") != "ok") WARN("not provable on this host: TIOCSTI is switched off");
  for (const Streams streams : {Streams::Pipes, Streams::Terminal}) {
    Attack attack{.program = "terminal"};
    attack.streams = streams;
    const Outcome inside = arena().attack(attack);
    INFO(inside.story());
    CHECK(inside.exited(0));
    for (const char* name : {"stdin.TIOCSTI", "stdin.TIOCLINUX", "stdin.TIOCSETD", "stdin.TIOCCONS", "stdin.wide",
                             "slave.TIOCSTI", "slave.TIOCLINUX", "slave.TIOCSETD", "slave.TIOCCONS", "slave.wide"}) {
      INFO(name);
      CHECK(inside.lines.of(name) == "EPERM");
    }
  }
}

TEST_CASE("A51 ptys are bounded inside and all gone afterwards", "[P06]") {
  CHECK(arena().control({"pty_flood", "20"}).lines.number("made") == 20);
  const Outcome inside = arena().attack({.program = "pty_flood"});
  INFO(inside.story());
  CHECK(inside.exited(0));
  CHECK(inside.lines.of("openpt") != "ok");
  CHECK(inside.lines.number("made") < 256);
}

TEST_CASE("A39 on a terminal the three descriptors are the terminal", "[P12]") {
  Attack attack{.program = "inherited_fds"};
  attack.streams = Streams::Terminal;
  const Outcome inside = arena().attack(attack);
  INFO(inside.story());
  CHECK(inside.lines.number("open") == 3);
  CHECK(inside.lines.of("fd0") == "character");
  CHECK(inside.lines.of("fd2") == "character");
}

TEST_CASE("A31 a program on a terminal that dies leaves no terminal behind", "[P07]") {
  for (int round = 0; round < 8; ++round) {
    Attack attack{.program = "die_of", .arguments = {"9"}};
    attack.streams = Streams::Terminal;
    const Outcome inside = arena().attack(attack);
    INFO(inside.story());
    CHECK(inside.ended(Ending::Signalled));
  }
}
