// What the virtual machine is for: a host with cgroup v2, controllers that may be used, and Landlock. If these do not
// hold, the engine's tests in there prove nothing about such a host.
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

namespace {

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// The group that this process stands in: the root of the tree, or what was delegated to its user.
std::string own_group() {
  std::string line = first_line("/proc/self/cgroup");
  return "/sys/fs/cgroup" + line.substr(line.rfind(':') + 1);
}

}  // namespace

TEST_CASE("the virtual machine's cgroup hierarchy is version 2") {
  struct statfs buf {};
  REQUIRE(statfs("/sys/fs/cgroup", &buf) == 0);
  CHECK(buf.f_type == CGROUP2_SUPER_MAGIC);
}

TEST_CASE("the controllers that a jail needs are there, and groups can be made") {
  const std::string controllers = first_line(own_group() + "/cgroup.controllers");
  CHECK(controllers.find("memory") != std::string::npos);
  CHECK(controllers.find("pids") != std::string::npos);
  CHECK(controllers.find("cpu") != std::string::npos);
  const std::string folder = own_group() + "/mayfly-probe";
  REQUIRE(mkdir(folder.c_str(), 0755) == 0);
  CHECK(access((folder + "/cgroup.kill").c_str(), W_OK) == 0);
  CHECK(rmdir(folder.c_str()) == 0);
}

TEST_CASE("the root of the virtual machine can be pivoted away, unlike an initial ramfs") {
  struct statfs buf {};
  REQUIRE(statfs("/", &buf) == 0);
  CHECK(buf.f_type == TMPFS_MAGIC);
  CHECK(first_line("/proc/self/mountinfo").find("rootfs") == std::string::npos);
}

TEST_CASE("the virtual machine's kernel has Landlock") {
  constexpr unsigned kVersionOnly = 1;  // LANDLOCK_CREATE_RULESET_VERSION
  CHECK(syscall(SYS_landlock_create_ruleset, nullptr, 0, kVersionOnly) >= 1);
}
