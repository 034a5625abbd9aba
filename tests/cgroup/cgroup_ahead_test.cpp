// Groups made ahead: only of limits that were asked for, each handed out once, never more than kGroupsAhead.
#include <catch2/catch.hpp>

#include "tests/cgroup/fake_tree.h"

using namespace mayfly;
using namespace mayfly::test;

namespace {

struct Ahead {
  FakeTree tree{kV1Files};
  std::unique_ptr<CgroupHost> host;
  explicit Ahead(bool allowed = true) {
    tree.mount("pids", "cgroup", "pids");
    auto opened = CgroupHost::open({kInstance, {}, allowed}, tree.sight());
    REQUIRE(opened.has_value());
    host = std::move(*opened);
  }
  std::size_t count() { return tree.groups("pids/mayfly-0123456789ab").size(); }
};

constexpr GroupLimits kOther{Bytes{128u << 20}, 64, MilliCpus{500}};

}  // namespace

TEST_CASE("nothing is made ahead before anything was asked for") {
  Ahead ahead;
  CHECK_FALSE(ahead.host->refill(100));
  CHECK(ahead.count() == 0);
}

TEST_CASE("a group made ahead is used when the limits are the same, and says so") {
  Ahead ahead;
  ahead.host->expect(kLimits);
  CHECK_FALSE(ahead.host->refill(100));
  CHECK(ahead.count() == 4);
  const auto same = ahead.host->make(3, kLimits);
  const auto other = ahead.host->make(4, kOther);
  REQUIRE(same.has_value());
  REQUIRE(other.has_value());
  CHECK(same->made_ahead());
  CHECK_FALSE(other->made_ahead());
  CHECK(ahead.tree.read("pids/mayfly-0123456789ab/4-5/pids.max") == "64");
}

TEST_CASE("every group made ahead is handed out once") {
  Ahead ahead;
  ahead.host->expect(kLimits);
  ahead.host->refill(100);
  std::vector<JailCgroup> groups;
  for (int i = 0; i < 5; ++i) groups.push_back(std::move(*ahead.host->make(1, kLimits)));
  CHECK(groups[3].made_ahead());
  CHECK_FALSE(groups[4].made_ahead());
  CHECK(ahead.count() == 5);
}

TEST_CASE("refilling stops at what it was allowed, and says that more is wanted") {
  Ahead ahead;
  ahead.host->expect(kLimits);
  CHECK(ahead.host->refill(1));
  CHECK(ahead.count() == 1);
}

TEST_CASE("a run of misses raises what is kept, up to kGroupsAhead in all") {
  Ahead ahead;
  for (int i = 0; i < 12; ++i) REQUIRE(ahead.host->make(1, kLimits).has_value());
  for (int i = 0; i < 12; ++i) REQUIRE(ahead.host->make(1, kOther).has_value());
  CHECK_FALSE(ahead.host->refill(1000));
  CHECK(ahead.count() == kGroupsAhead);
}

TEST_CASE("with made-ahead turned off nothing is made ahead") {
  Ahead ahead(false);
  ahead.host->expect(kLimits);
  CHECK_FALSE(ahead.host->refill(100));
  CHECK(ahead.count() == 0);
  CHECK_FALSE(ahead.host->make(1, kLimits)->made_ahead());
}

TEST_CASE("what was never used goes with the host") {
  Ahead ahead;
  ahead.host->expect(kLimits);
  ahead.host->refill(100);
  ahead.host.reset();
  CHECK_FALSE(ahead.tree.exists("pids/mayfly-0123456789ab"));
}
