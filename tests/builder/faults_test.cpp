// P10: whichever step fails, there is no jail, the step is named, nothing is left. P20: a layer left out shows.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cerrno>

#include "jail/builder/filter/build_id.h"
#include "tests/builder/bench.h"

using namespace mayfly;
using namespace mayfly::bench;

namespace {

Bench start_faulty(const std::vector<std::string>& faults, bool made_ahead = false) {
  BenchOptions options;
  options.program = "mayfly-builder-faulty";
  options.arguments = faults;
  options.made_ahead = made_ahead;
  auto started = Bench::start(options);
  if (!started) FAIL(started.error().text());
  return std::move(*started);
}

std::string children_of(pid_t pid) {
  return read_text("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
}

std::size_t mounts_of(pid_t pid) {
  const std::string table = read_text("/proc/" + std::to_string(pid) + "/mountinfo");
  return static_cast<std::size_t>(std::count(table.begin(), table.end(), '\n'));
}

Job full_job() {
  Job job = job_for({"true"});
  add_file(job, "data", "data", false);
  return job;
}

std::string status_line(pid_t pid, const std::string& key) {
  const std::string status = read_text("/proc/" + std::to_string(pid) + "/status");
  const auto at = status.find("\n" + key + ":\t");
  if (at == std::string::npos) return "";
  const auto start = at + key.size() + 3;
  return status.substr(start, status.find('\n', start) - start);
}

}  // namespace

TEST_CASE("any step that fails means no jail, a named step, and nothing left", "[P10][root]") {
  for (std::uint8_t number = 1; number < kStepCount; ++number) {
    const auto step = static_cast<Step>(number);
    INFO(name(step));
    Bench bench = start_faulty({"fail:" + std::string(name(step)) + ":" + std::to_string(ENOTRECOVERABLE)});
    const std::size_t mounts = mounts_of(bench.pid());
    Built jail = bench.build(full_job());
    if (jail.at_gate && step == Step::Execute) {
      bench.open_gate(jail);
      jail.failed = bench.next_from_gate(jail);
    }
    if (step <= Step::RaiseLoopback) {
      CHECK(jail.reply.says == BuilderSays::Failed);
      CHECK(jail.reply.step == number);
      CHECK(jail.reply.error == ENOTRECOVERABLE);
    } else {
      REQUIRE(jail.failed);
      CHECK(jail.failed->says == GateSays::StepFailed);
      CHECK(jail.failed->step == number);
      CHECK(jail.failed->error == ENOTRECOVERABLE);
      pollfd gone{jail.pidfd.get(), POLLIN, 0};
      CHECK(::poll(&gone, 1, 2000) == 1);  // by itself
      CHECK(bench.wait_released(0));
    }
    CHECK(children_of(bench.pid()).empty());
    CHECK(mounts_of(bench.pid()) == mounts);
  }
}

TEST_CASE("pid 1 tells what failed, also when it is gone before its ids are there", "[P10][root]") {
  Bench bench = start_faulty({"fail:EnterCgroup:28", "slow:MapIds:100"});
  const Built jail = bench.build(full_job());
  REQUIRE(jail.failed);
  CHECK(jail.failed->step == static_cast<std::uint32_t>(Step::EnterCgroup));
  CHECK(jail.failed->error == ENOSPC);
  CHECK(bench.wait_released(0));
}

TEST_CASE("a builder whose step fails goes on building nothing, and does not die", "[P10][root]") {
  Bench outside = start_faulty({"fail:FitRoot:28"});
  Bench inside = start_faulty({"fail:PlaceTrees:28"});
  for (int i = 0; i < 3; ++i) {
    CHECK(outside.build(full_job()).reply.error == ENOSPC);
    const Built jail = inside.build(full_job());
    REQUIRE(jail.failed);
    CHECK(jail.failed->error == ENOSPC);
  }
}

TEST_CASE("a layer left out by hand shows in what is proved or measured", "[P20][root]") {
  SECTION("landlock") {
    Bench bench = start_faulty({"weaken:landlock"});
    Built jail = bench.build(full_job());
    REQUIRE(jail.at_gate);
    CHECK(jail.at_gate->landlock_errno == 0);
    bench.destroy(jail);
  }
  SECTION("filter") {
    Bench bench = start_faulty({"weaken:filter"});
    Built jail = bench.build(full_job());
    REQUIRE(jail.at_gate);
    CHECK(jail.at_gate->filter_errno == ENOSYS);
    bench.destroy(jail);
  }
  SECTION("proc") {
    Bench bench = start_faulty({"weaken:proc"});
    Built jail = bench.build(full_job());
    REQUIRE(jail.at_gate);
    REQUIRE(jail.placed);
    CHECK(jail.placed->proc_mounted == 0);
    bench.destroy(jail);
  }
  SECTION("environment") {
    Bench bench = start_faulty({"weaken:environment"});
    Built jail = bench.build(full_job());
    REQUIRE(jail.at_gate);
    CHECK(jail.at_gate->environment_count == 4);
    bench.destroy(jail);
  }
  SECTION("capabilities") {
    Bench bench = start_faulty({"weaken:caps"});
    Built jail = bench.build(full_job());
    REQUIRE(jail.at_gate);
    CHECK(status_line(jail.program, "CapBnd") != "0000000000000000");
    bench.destroy(jail);
  }
  SECTION("limits") {
    Bench bench = start_faulty({"weaken:limits"});
    Built jail = bench.build(full_job());
    REQUIRE(jail.at_gate);
    const std::string limits = read_text("/proc/" + std::to_string(jail.program) + "/limits");
    CHECK_THAT(limits, !Catch::Contains("Max open files            256 "));
    bench.destroy(jail);
  }
}

TEST_CASE("the release program takes no faults", "[P10][root]") {
  BenchOptions options;
  options.arguments = {"fail:MakeRoot:28"};
  auto bench = Bench::start(options);
  REQUIRE(bench);
  Built jail = bench->build(full_job());
  CHECK(jail.at_gate);
  bench->destroy(jail);
}
