// Whose the processes are that stand in the way of a v2 group's controllers.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "jail/supervisor/cgroup_v2.h"

using namespace mayfly;

TEST_CASE("a process that has just ended does not pass for somebody else's") {
  CHECK(whose_is(::getpid()) == Whose::Ours);
  CHECK(whose_is(::getppid()) == Whose::Ours);
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  CHECK(whose_is(child) == Whose::Ours);
  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  CHECK(whose_is(child) == Whose::Unknown);
  if (::getppid() != 1) CHECK(whose_is(1) == Whose::Others);
}
