// Parts made ahead: each handed out once and whole, wherever it was kept; few of them are descriptors of ours.
#include "jail/builder/outside/parts.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include <catch2/catch.hpp>

using namespace mayfly;

namespace {

// A descriptor whose inode can be told from every other: stands for a namespace, a tree, a ruleset.
Fd any_object() { return Fd(::memfd_create("part", MFD_CLOEXEC)); }

ino_t inode_of(const Fd& fd) {
  struct stat facts {};
  return ::fstat(fd.get(), &facts) == 0 ? facts.st_ino : 0;
}

Parts parts_of(std::uint32_t nsid, bool with_ruleset = true) {
  Parts parts;
  parts.network = {any_object(), nsid, nsid % 2 == 0};
  parts.root = {any_object(), any_object(), with_ruleset ? any_object() : Fd()};
  return parts;
}

std::size_t descriptors() {
  std::size_t count = 0;
  DIR* directory = ::opendir("/proc/self/fd");
  while (::readdir(directory) != nullptr) ++count;
  ::closedir(directory);
  return count;
}

}  // namespace

TEST_CASE("parts come back whole and once, the youngest at hand first, then the oldest parked") {
  PartsAhead ahead;
  REQUIRE(ahead.open() == 0);
  std::array<std::array<ino_t, 4>, 8> made{};
  for (std::uint32_t i = 0; i < 8; ++i) {
    Parts parts = parts_of(i);
    made[i] = {inode_of(parts.network.network), inode_of(parts.root.tree), inode_of(parts.root.context),
               inode_of(parts.root.ruleset)};
    REQUIRE(ahead.add(std::move(parts)));
  }
  for (const std::uint32_t expected : {3u, 2u, 1u, 0u, 4u, 5u, 6u, 7u}) {
    const Parts parts = ahead.take();
    REQUIRE(parts.is_complete());
    CHECK(parts.network.nsid == expected);
    CHECK(parts.network.is_furnished == (expected % 2 == 0));
    const std::array<ino_t, 4> found = {inode_of(parts.network.network), inode_of(parts.root.tree),
                                        inode_of(parts.root.context), inode_of(parts.root.ruleset)};
    CHECK(found == made[expected]);
  }
  CHECK(ahead.is_empty());
  CHECK_FALSE(ahead.take().is_complete());
}

TEST_CASE("all of them take few descriptors, and leave none behind") {
  const std::size_t before = descriptors();
  {
    PartsAhead ahead;
    REQUIRE(ahead.open() == 0);
    std::uint32_t kept = 0;
    while (ahead.add(parts_of(kept))) ++kept;
    CHECK(kept == kPartsAhead);
    CHECK(ahead.is_full());
    CHECK(descriptors() <= before + 20);
    std::set<std::uint32_t> seen;
    while (!ahead.is_empty()) seen.insert(ahead.take().network.nsid);
    CHECK(seen.size() == kPartsAhead);
  }
  CHECK(descriptors() == before);
}

TEST_CASE("a kernel without Landlock has no ruleset to keep") {
  PartsAhead ahead;
  REQUIRE(ahead.open() == 0);
  for (std::uint32_t i = 0; i < 6; ++i) REQUIRE(ahead.add(parts_of(i, false)));
  while (!ahead.is_empty()) {
    const Parts parts = ahead.take();
    CHECK(parts.is_complete());
    CHECK_FALSE(parts.root.ruleset);
  }
}

TEST_CASE("what is incomplete is not kept") {
  PartsAhead ahead;
  REQUIRE(ahead.open() == 0);
  Parts parts = parts_of(1);
  parts.root.tree = Fd();
  CHECK_FALSE(ahead.add(std::move(parts)));
  CHECK(ahead.is_empty());
}

TEST_CASE("without a place to park, those at hand are kept") {
  PartsAhead ahead;
  std::uint32_t kept = 0;
  while (ahead.add(parts_of(kept))) ++kept;
  CHECK(kept == 4);
  CHECK(ahead.take().is_complete());
}

TEST_CASE("with a full table of descriptors the parked are lost, and nothing leaks") {
  PartsAhead ahead;
  REQUIRE(ahead.open() == 0);
  for (std::uint32_t i = 0; i < 6; ++i) REQUIRE(ahead.add(parts_of(i)));
  for (std::uint32_t i = 0; i < 4; ++i) REQUIRE(ahead.take().is_complete());
  const std::size_t before = descriptors();
  rlimit files{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &files) == 0);
  const Fd next = any_object();
  const rlimit full{static_cast<rlim_t>(next.get()) + 2, files.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &full) == 0);
  const bool complete = ahead.take().is_complete();
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &files) == 0);
  CHECK_FALSE(complete);
  CHECK(descriptors() == before + 1);  // ours: `next`
  CHECK(ahead.take().is_complete());
}
