#include "jail/cli/uid_blocks.h"

#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <optional>

#include "tests/cli/temporary_directory.h"

using namespace mayfly;

TEST_CASE("two engines never get the same uids") {
  test::TemporaryDirectory directory;
  const auto first = UidBlock::take(directory.path() + "/uid-blocks");
  const auto second = UidBlock::take(directory.path() + "/uid-blocks");
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->base() == kUidBase);
  CHECK(second->base() == kUidBase + UidBlock::kUids);
}

TEST_CASE("a block is free again when its engine is gone") {
  test::TemporaryDirectory directory;
  { const auto gone = UidBlock::take(directory.path() + "/uid-blocks"); }
  CHECK(UidBlock::take(directory.path() + "/uid-blocks")->number() == 0);
}

TEST_CASE("a block stays taken as long as any process holds a copy of its descriptor") {
  test::TemporaryDirectory directory;
  const std::string table = directory.path() + "/uid-blocks";
  std::optional<UidBlock> block = UidBlock::take(table).value();
  const pid_t relay = ::fork();  // as a relay does: it inherits the descriptor and outlives the engine
  if (relay == 0) {
    ::pause();
    ::_exit(0);
  }
  block.reset();
  CHECK(UidBlock::take(table)->number() == 1);
  ::kill(relay, SIGKILL);
  ::waitpid(relay, nullptr, 0);
  CHECK(UidBlock::take(table)->number() == 0);
}
