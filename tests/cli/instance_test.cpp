#include "jail/cli/instance.h"

#include <sys/wait.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "jail/cli/paths.h"
#include "tests/cli/temporary_directory.h"

using namespace mayfly;

TEST_CASE("an instance has twelve hex digits and a lock that goes with it") {
  test::TemporaryDirectory directory;
  std::string lock;
  {
    const auto instance = Instance::claim(directory.path());
    REQUIRE(instance);
    CHECK(instance->id().size() == 12);
    CHECK(instance->id().find_first_not_of("0123456789abcdef") == std::string::npos);
    lock = directory.path() + "/instances/" + instance->id() + ".lock";
    CHECK(std::filesystem::exists(lock));
  }
  CHECK_FALSE(std::filesystem::exists(lock));
}

TEST_CASE("the lock of an instance whose supervisor did not end well stays for the next start") {
  const test::TemporaryDirectory directory;
  std::string lock;
  {
    auto instance = Instance::claim(directory.path());
    REQUIRE(instance);
    lock = directory.path() + "/instances/" + instance->id() + ".lock";
    instance->may_leave_cgroups();
    const Instance moved = std::move(*instance);
  }
  CHECK(std::filesystem::exists(lock));
  {
    auto instance = Instance::claim(directory.path());
    REQUIRE(instance);
    lock = directory.path() + "/instances/" + instance->id() + ".lock";
    instance->may_leave_cgroups();
    instance->leaves_nothing();
  }
  CHECK_FALSE(std::filesystem::exists(lock));
}

TEST_CASE("sweeping takes away the sockets of dead instances, leaves their locks and touches no live one") {
  test::TemporaryDirectory directory;
  const auto live = Instance::claim(directory.path());
  REQUIRE(live);
  const std::string folder = directory.path() + "/instances/";
  std::ofstream(folder + "0123456789ab.lock") << "";
  std::ofstream(folder + "0123456789ab.lease.sock") << "";
  std::ofstream(folder + "aaaaaaaaaaaa.lease.sock") << "";  // its lock is gone already
  std::ofstream(folder + "something-else") << "";
  std::ofstream(folder + live->id() + ".lease.sock") << "";
  sweep_instances(directory.path());
  CHECK(std::filesystem::exists(folder + "0123456789ab.lock"));  // the supervisor finds their cgroups by it
  CHECK_FALSE(std::filesystem::exists(folder + "0123456789ab.lease.sock"));
  CHECK_FALSE(std::filesystem::exists(folder + "aaaaaaaaaaaa.lease.sock"));
  CHECK(std::filesystem::exists(folder + "something-else"));
  CHECK(std::filesystem::exists(folder + live->id() + ".lock"));
  CHECK(std::filesystem::exists(folder + live->id() + ".lease.sock"));
}

TEST_CASE("a second service on one state directory is refused and told the holder's pid") {
  test::TemporaryDirectory directory;
  const auto first = StateLock::take(directory.path(), "0123456789ab");
  REQUIRE(first);
  const auto second = StateLock::take(directory.path(), "ba9876543210");
  REQUIRE_FALSE(second);
  CHECK(second.error().text().find("process " + std::to_string(::getpid())) != std::string::npos);
  CHECK(second.error().text().find("mayfly stop") != std::string::npos);
}

TEST_CASE("who holds a state directory is known while it is held, and only then") {
  test::TemporaryDirectory directory;
  CHECK_FALSE(holder_of(directory.path()).value());
  {
    const auto lock = StateLock::take(directory.path(), "0123456789ab");
    REQUIRE(lock);
    const auto holder = holder_of(directory.path());
    REQUIRE(holder);
    REQUIRE(*holder);
    CHECK((*holder)->pid == ::getpid());
    CHECK((*holder)->instance == "0123456789ab");
  }
  CHECK_FALSE(holder_of(directory.path()).value());  // the file is still there, the lock is not
}

TEST_CASE("a holder that was killed leaves a state directory that can be used at once") {
  test::TemporaryDirectory directory;
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = StateLock::take(directory.path(), "0123456789ab");
    const char byte = lock ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) == 1) ::pause();
    ::_exit(1);
  }
  char byte = 0;
  REQUIRE(::read(ready[0], &byte, 1) == 1);
  CHECK(byte == 'y');
  CHECK_FALSE(StateLock::take(directory.path(), "ba9876543210"));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(StateLock::take(directory.path(), "ba9876543210"));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("a directory that others may write to is not used") {
  test::TemporaryDirectory directory;
  const std::string open_to_all = directory.path() + "/open";
  std::filesystem::create_directory(open_to_all);
  std::filesystem::permissions(open_to_all, std::filesystem::perms::all);
  CHECK_FALSE(make_directory(open_to_all, 0700));
  std::ofstream(directory.path() + "/file") << "";
  CHECK_FALSE(make_directory(directory.path() + "/file", 0700));
  CHECK(make_directory(directory.path() + "/a/b/c", 0700));
  CHECK(make_directory(directory.path() + "/a/b/c", 0700));
}

TEST_CASE("the usual state folder of root, named or not, is one and the same service") {
  const auto usual = find_paths(Privilege::Root, "");
  const auto named = find_paths(Privilege::Root, "/var/lib/mayfly");
  const auto other = find_paths(Privilege::Root, "/srv/mayfly");
  REQUIRE((usual && named && other));
  CHECK(named->state == usual->state);
  CHECK(named->run == usual->run);
  CHECK(other->run == "/srv/mayfly/run");
}
