// What is written where, in which kind of tree; and what comes back when a part of it is missing.
#include <catch2/catch.hpp>

#include "tests/cgroup/fake_tree.h"

using namespace mayfly;
using namespace mayfly::test;

namespace {

struct V1Tree : FakeTree {
  V1Tree() : FakeTree(kV1Files) {
    for (const char* name : {"memory", "pids", "cpu", "cpuacct"}) mount(name, "cgroup", name);
    sight().self_cgroup = "4:memory:/\n3:pids:/\n2:cpu:/\n1:cpuacct:/\n0::/\n";
  }
};

struct V2Tree : FakeTree {
  V2Tree() : FakeTree(kV2Files) {
    mount("v2", "cgroup2", "");
    sight().self_cgroup = "0::/\n";
    write("v2/cgroup.controllers", "cpuset cpu io memory pids\n");
    write("v2/cgroup.subtree_control", "");
    write("v2/cgroup.procs", "");
  }
};

std::unique_ptr<CgroupHost> open_in(FakeTree& tree, const CgroupPlace& where = place()) {
  auto host = CgroupHost::open(where, tree.sight());
  INFO((host ? "" : host.error().text()));
  REQUIRE(host.has_value());
  return std::move(*host);
}

JailCgroup make_in(CgroupHost& host) {
  auto group = host.make(7, kLimits);
  INFO((group ? "" : group.error().text()));
  REQUIRE(group.has_value());
  return std::move(*group);
}

}  // namespace

TEST_CASE("v1: the parent holds the host limits and the jail its own, in each hierarchy") {
  V1Tree tree;
  auto host = open_in(tree);
  CHECK(host->kind() == CgroupKind::V1);
  CHECK(tree.read("memory/mayfly-0123456789ab/memory.limit_in_bytes") == "1073741824");
  CHECK(tree.read("memory/mayfly-0123456789ab/memory.memsw.limit_in_bytes") == "1073741824");
  CHECK(tree.read("pids/mayfly-0123456789ab/pids.max") == "500");
  CHECK(tree.read("cpu/mayfly-0123456789ab/cpu.cfs_quota_us") == "150000");

  const JailCgroup group = make_in(*host);
  CHECK(tree.groups("memory/mayfly-0123456789ab") == std::set<std::string>{"7-1"});
  CHECK(tree.read("memory/mayfly-0123456789ab/7-1/memory.limit_in_bytes") == "67108864");
  CHECK(tree.read("memory/mayfly-0123456789ab/7-1/memory.memsw.limit_in_bytes") == "67108864");
  CHECK(tree.read("pids/mayfly-0123456789ab/7-1/pids.max") == "32");
  CHECK(tree.read("cpu/mayfly-0123456789ab/7-1/cpu.cfs_quota_us") == "100000");
  CHECK(group.attach_fds().size() == 4);
  CHECK(std::string(group.kill_text()) == "-1");
  CHECK(group.kill_fd() >= 0);
}

TEST_CASE("v1: a share above the host's is the host's, which the kernel would otherwise refuse") {
  V1Tree tree;
  auto host = open_in(tree);
  const auto group = host->make(1, {Bytes{64u << 20}, 32, MilliCpus{2000}});
  REQUIRE(group.has_value());
  CHECK(tree.read("cpu/mayfly-0123456789ab/1-1/cpu.cfs_quota_us") == "150000");
}

TEST_CASE("v1: numbers come back in our units") {
  V1Tree tree;
  auto host = open_in(tree);
  const JailCgroup group = make_in(*host);
  CHECK(group.usage().memory.value == Bytes{4096});
  CHECK(group.usage().cpu.value == Microseconds{2500});  // cpuacct.usage is in nanoseconds
  CHECK(group.usage().processes.value == 2u);
  CHECK(group.account().memory_peak.value == Bytes{8192});
  CHECK(group.account().processes_peak.value == 5u);
  CHECK(group.events().pids_max_hits == 7);
  CHECK(group.events().memory_max_hits == 3);
  CHECK(group.events().oom_kills == 0);
}

TEST_CASE("v1: a counter that cannot be opened makes no group, one that the kernel does not have does") {
  V1Tree tree;
  auto host = open_in(tree);
  tree.directories().hide("pids.peak");
  CHECK(make_in(*host).account().processes_peak.why == "this kernel has no pids.peak");
  tree.directories().block("memory.failcnt");
  CHECK_FALSE(host->make(9, kLimits));
}

TEST_CASE("v1: a kernel without pids.peak gives no number, and says why") {
  V1Tree tree;
  auto host = open_in(tree);
  const JailCgroup group = make_in(*host);
  tree.write("pids/mayfly-0123456789ab/7-1/pids.peak", "");
  CHECK_FALSE(group.account().processes_peak.value.has_value());
  CHECK(group.account().processes_peak.why == "this kernel has no pids.peak");
}

TEST_CASE("v1: a process is measured in its group, and limits are read back") {
  V1Tree tree;
  auto host = open_in(tree);
  const JailCgroup group = make_in(*host);
  const std::string inside =
      "4:memory:/mayfly-0123456789ab/7-1\n3:pids:/mayfly-0123456789ab/7-1\n2:cpu:/mayfly-0123456789ab/7-1\n"
      "1:cpuacct:/mayfly-0123456789ab/7-1\n";
  GroupMeasured found = group.measure(inside);
  CHECK(found.memory == LimitState::AsAsked);
  CHECK(found.cpu == LimitState::AsAsked);
  CHECK(found.processes == LimitState::AsAsked);
  CHECK(found.disagreement.empty());

  SECTION("read back before, the limits are those of that moment; where the process is, is asked anew") {
    JailCgroup other = std::move(*host->make(8, kLimits));
    tree.write("pids/mayfly-0123456789ab/8-2/pids.max", "max\n");
    other.read_back();
    tree.write("pids/mayfly-0123456789ab/8-2/pids.max", "32\n");
    std::string there = inside;
    for (std::size_t at = 0; (at = there.find("7-1", at)) != std::string::npos;) there.replace(at, 3, "8-2");
    found = other.measure(there);
    CHECK(found.processes == LimitState::Other);
    CHECK(found.memory == LimitState::AsAsked);
    CHECK(other.measure(inside).memory == LimitState::Other);
  }
  SECTION("outside of one of them it is not as asked") {
    found = group.measure("4:memory:/mayfly-0123456789ab/7-1\n3:pids:/\n2:cpu:/mayfly-0123456789ab/7-1\n");
    CHECK(found.memory == LimitState::AsAsked);
    CHECK(found.processes == LimitState::Other);
    CHECK(found.disagreement == "pids: not in the jail's group");
  }
  SECTION("nor is it where nobody would count its CPU time") {
    found = group.measure(inside.substr(0, inside.find("1:cpuacct")) + "1:cpuacct:/\n");
    CHECK(found.cpu == LimitState::Other);
    CHECK(found.disagreement == "cpuacct: not in the jail's group");
  }
  SECTION("a neighbour's group is not its own") {
    CHECK(group.measure("4:memory:/mayfly-0123456789ab/7-11\n").memory == LimitState::Other);
    CHECK(group.measure("4:memory:/mayfly-0123456789ab/17-1\n").memory == LimitState::Other);
    CHECK(group.measure("4:memory:/x/mayfly-0123456789ab/7-1\n").memory == LimitState::Other);
  }
  SECTION("a limit that somebody changed is not as asked") {
    tree.write("pids/mayfly-0123456789ab/7-1/pids.max", "max\n");
    found = group.measure(inside);
    CHECK(found.processes == LimitState::Other);
    CHECK(found.disagreement == "pids.max: asked 32, found max");
  }
  SECTION("swap that somebody allowed is not as asked") {
    tree.write("memory/mayfly-0123456789ab/7-1/memory.memsw.limit_in_bytes", "9223372036854771712\n");
    CHECK(group.measure(inside).memory == LimitState::Other);
  }
}

TEST_CASE("v1: only pids is there: it limits processes, and the others say what is missing") {
  FakeTree tree(kV1Files);
  tree.mount("pids", "cgroup", "pids");
  auto host = open_in(tree);
  CHECK(host->controller(Control::Processes).expected == Measured::CgroupV1);
  CHECK(host->controller(Control::Memory).expected == Measured::Unlimited);
  CHECK(host->controller(Control::Cpu).expected == Measured::Unlimited);
  CHECK(host->controller(Control::Memory).cause.find("memory controller") != std::string::npos);
  CHECK(host->controller(Control::Memory).fix.find("mount -t cgroup -o memory") != std::string::npos);
  const JailCgroup group = make_in(*host);
  CHECK(group.attach_fds().size() == 1);
  CHECK(group.kill_fd() == -1);
  CHECK(group.measure("3:pids:/mayfly-0123456789ab/7-1\n").memory == LimitState::NoController);
  CHECK_FALSE(group.account().cpu.value.has_value());
}

TEST_CASE("v1: hierarchies in which nothing may be made leave a host without, that says how to get there") {
  V1Tree tree;
  tree.directories().refuse_with = EACCES;
  auto host = open_in(tree);
  CHECK(host->kind() == CgroupKind::None);
  CHECK(host->controller(Control::Processes).expected == Measured::Rlimit);
  CHECK(host->controller(Control::Memory).expected == Measured::Unlimited);
  CHECK(host->controller(Control::Memory).cause.find("root alone") != std::string::npos);
  CHECK_FALSE(host->controller(Control::Memory).fix.empty());
}

TEST_CASE("a group that is still busy is removed at the second call, and every directory goes") {
  V1Tree tree;
  auto host = open_in(tree);
  JailCgroup group = make_in(*host);
  tree.directories().busy_for = 1;
  const auto first = group.remove();
  REQUIRE_FALSE(first.has_value());
  CHECK(first.error().error == EBUSY);
  CHECK(group.remove().has_value());
  CHECK(group.kind() == CgroupKind::None);
  for (const char* name : {"memory", "pids", "cpu", "cpuacct"})
    CHECK(tree.groups(name + std::string("/mayfly-0123456789ab")).empty());
}

TEST_CASE("the parent group lives as long as any jail of it, and no longer") {
  V1Tree tree;
  auto host = open_in(tree);
  {
    const JailCgroup group = make_in(*host);
    host.reset();
    CHECK(tree.exists("memory/mayfly-0123456789ab"));
  }
  CHECK_FALSE(tree.exists("memory/mayfly-0123456789ab"));
}

TEST_CASE("what an earlier engine of this instance left is removed at the start") {
  V1Tree tree;
  {
    auto host = open_in(tree);
    JailCgroup group = make_in(*host);
    tree.directories().busy_for = 1'000'000;  // a crash: nothing can be removed
    host.reset();
  }
  REQUIRE(tree.groups("memory/mayfly-0123456789ab").size() == 1);
  tree.directories().busy_for = 0;
  auto host = open_in(tree);
  CHECK(tree.groups("memory/mayfly-0123456789ab").empty());
}

TEST_CASE("another instance's groups are listed, and removed only by its id") {
  V1Tree tree;
  auto other = open_in(tree, {"ba9876543210", {}, false});
  auto host = open_in(tree);
  CHECK(host->other_instances() == std::vector<std::string>{"ba9876543210"});
  CHECK_FALSE(host->clean_stale("0123456789ab").has_value());  // ours
  CHECK_FALSE(host->clean_stale("..").has_value());
  CHECK(host->clean_stale("ba9876543210").has_value());
  CHECK_FALSE(tree.exists("memory/mayfly-ba9876543210"));
  CHECK(tree.exists("memory/mayfly-0123456789ab"));
}

TEST_CASE("v2: controllers are passed down, the parent holds the host limits and the jail its own") {
  V2Tree tree;
  auto host = open_in(tree);
  CHECK(host->kind() == CgroupKind::V2);
  CHECK(tree.read("v2/mayfly-0123456789ab/memory.max") == "1073741824");
  CHECK(tree.read("v2/mayfly-0123456789ab/cpu.max") == "150000 100000");
  const JailCgroup group = make_in(*host);
  CHECK(tree.read("v2/mayfly-0123456789ab/7-1/memory.max") == "67108864");
  CHECK(tree.read("v2/mayfly-0123456789ab/7-1/memory.swap.max") == "0");
  CHECK(tree.read("v2/mayfly-0123456789ab/7-1/memory.oom.group") == "1");
  CHECK(tree.read("v2/mayfly-0123456789ab/7-1/pids.max") == "32");
  CHECK(tree.read("v2/mayfly-0123456789ab/7-1/cpu.max") == "100000 100000");
  CHECK(group.attach_fds().size() == 1);
  CHECK(std::string(group.kill_text()) == "1");
}

TEST_CASE("v2: numbers, events and measures come from the group's own files") {
  V2Tree tree;
  auto host = open_in(tree);
  JailCgroup group = make_in(*host);
  CHECK(group.usage().cpu.value == Microseconds{2500});
  CHECK(group.account().memory_peak.value == Bytes{8192});
  CHECK(group.events().oom_kills == 1);
  CHECK(group.events().memory_max_hits == 3);
  CHECK(group.look_for_oom() == OomSign::Struck);
  CHECK(group.measure("0::/mayfly-0123456789ab/7-1\n").memory == LimitState::AsAsked);
  CHECK(group.measure("0::/mayfly-0123456789ab\n").memory == LimitState::Other);
  tree.write("v2/mayfly-0123456789ab/7-1/cpu.max", "max 100000\n");
  CHECK(group.measure("0::/mayfly-0123456789ab/7-1\n").cpu == LimitState::Other);
}

TEST_CASE("v2: a controller that is not offered is the only one that is missing") {
  V2Tree tree;
  tree.write("v2/cgroup.controllers", "cpuset pids\n");
  auto host = open_in(tree);
  CHECK(host->controller(Control::Processes).expected == Measured::CgroupV2);
  CHECK(host->controller(Control::Memory).expected == Measured::Unlimited);
  CHECK(host->controller(Control::Memory).cause.find("memory") != std::string::npos);
  const JailCgroup group = make_in(*host);
  CHECK(tree.read("v2/mayfly-0123456789ab/7-1/memory.max").empty());
  CHECK(group.measure("0::/mayfly-0123456789ab/7-1\n").memory == LimitState::NoController);
  CHECK(group.measure("0::/mayfly-0123456789ab/7-1\n").processes == LimitState::AsAsked);
}

TEST_CASE("on a hybrid host the v1 hierarchies are used, because the v2 tree has no controller of ours") {
  V1Tree tree;
  tree.mount("unified", "cgroup2", "");
  tree.write("unified/cgroup.controllers", "hugetlb\n");
  auto host = open_in(tree);
  CHECK(host->kind() == CgroupKind::V1);
}

TEST_CASE("an empty group limits nothing and knows nothing") {
  JailCgroup group;
  CHECK(group.kind() == CgroupKind::None);
  CHECK(group.attach_fds().empty());
  CHECK(group.kill_fd() == -1);
  CHECK(group.oom_fd() == -1);
  CHECK_FALSE(group.usage().memory.value.has_value());
  CHECK_FALSE(group.account().cpu.why.empty());
  CHECK(group.measure("").memory == LimitState::NoController);
  CHECK(group.kill_all().has_value());
  CHECK(group.remove().has_value());
}
