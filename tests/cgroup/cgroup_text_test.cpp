// The parsers of cgroup texts, on texts as kernels wrote them and on damaged ones.
#include <catch2/catch.hpp>

#include "jail/supervisor/cgroup_files.h"
#include "jail/supervisor/cgroup_kill.h"
#include "jail/supervisor/cgroup_sight.h"

using namespace mayfly;

namespace {

CgroupSight sight_of(std::string mountinfo, std::string self_cgroup) {
  return {std::move(mountinfo), std::move(self_cgroup), nullptr};
}

}  // namespace

TEST_CASE("a number is read with its newline, max is no limit, anything else is no number") {
  CHECK(parse_group_number("42\n") == 42u);
  CHECK(parse_group_number("max\n") == kNoLimit);
  CHECK_FALSE(parse_group_number("").has_value());
  CHECK_FALSE(parse_group_number("-1\n").has_value());
  CHECK_FALSE(parse_group_number("12 34").has_value());
  CHECK_FALSE(parse_group_number("99999999999999999999999").has_value());
}

TEST_CASE("a keyed number is that of the whole key") {
  const std::string text = "oom_kill_disable 1\nunder_oom 0\noom_kill 2\n";
  CHECK(keyed_number(text, "oom_kill") == 2u);
  CHECK(keyed_number(text, "under_oom") == 0u);
  CHECK_FALSE(keyed_number(text, "oom").has_value());
  CHECK_FALSE(keyed_number("", "oom").has_value());
}

TEST_CASE("every v1 hierarchy with a controller of ours is found once, co-mounted ones as one") {
  const CgroupSight sight = sight_of(
      "31 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "32 30 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
      "34 30 0:31 / /sys/fs/cgroup/mem\\040ory rw - cgroup cgroup rw,memory\n"
      "35 30 0:31 / /somewhere/else rw - cgroup cgroup rw,memory\n"
      "39 30 0:36 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n",
      "4:memory:/a/b\n2:cpu,cpuacct:/\n");
  const auto found = v1_hierarchies(sight);
  REQUIRE(found.size() == 2);
  CHECK(found[0].cpu);
  CHECK(found[0].cpuacct);
  CHECK(found[0].own_path.empty());
  CHECK(found[1].mount_point == "/sys/fs/cgroup/mem ory");
  CHECK(found[1].own_path == "/a/b");
}

TEST_CASE("our own v2 group is found below what is mounted") {
  const std::string mount = "40 30 0:37 /outer /sys/fs/cgroup ro,nosuid - cgroup2 cgroup2 rw,nsdelegate\n";
  const auto inner = v2_hierarchies(sight_of(mount, "0::/outer/a\n"));
  REQUIRE(inner.size() == 1);
  CHECK(inner[0].own_path == "/a");
  CHECK(inner[0].read_only);
  CHECK(v2_hierarchies(sight_of(mount, "0::/outer\n"))[0].own_path.empty());
  CHECK(v2_hierarchies(sight_of(mount, "0::/outerspace/a\n"))[0].own_path.empty());
  CHECK(v2_hierarchies(sight_of("", "0::/\n")).empty());
}

TEST_CASE("the group of a process is that of the controller, not of one whose name contains it") {
  const std::string text = "3:cpuset:/x\n2:cpu,cpuacct:/y:z\n0::/v2\n";
  CHECK(group_of(text, "cpu") == "/y:z");
  CHECK(group_of(text, "cpuacct") == "/y:z");
  CHECK(group_of(text, "") == "/v2");
  CHECK(group_of(text, "memory").empty());
  CHECK(group_of("1:name=systemd:/only\n", "").empty());
  CHECK(group_of("nonsense", "cpu").empty());
}

TEST_CASE("only twelve lower-case hex digits name an instance") {
  CHECK(is_instance_id("0123456789ab"));
  CHECK_FALSE(is_instance_id("0123456789a"));
  CHECK_FALSE(is_instance_id("0123456789AB"));
  CHECK_FALSE(is_instance_id("../../memory"));
}
