// The control run: outside of any jail the attacks that this user may do must work, or "held" inside proves nothing.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "jail/probe/containment_run.h"

using namespace mayfly;

namespace {

std::string probe() { return std::string(std::getenv("MAYFLY_BIN")) + "/mayfly-probe"; }

bool works(const ControlOutcome& outcome, const std::string& attack) {
  const ProbeLine* line = outcome.report.find(attack);
  return line != nullptr && !line->held;
}

}  // namespace

TEST_CASE("outside of a jail, what any user may do works") {
  const ControlOutcome outcome =
      run_outside(probe(), {"attacks", "1", "nobody-listens", std::to_string(::getpid()), "/etc/hostname"});
  REQUIRE(outcome.not_tried.empty());
  CHECK(outcome.report.dropped == 0);
  CHECK(outcome.report.lines.size() >= 25);
  for (const char* attack : {"see-host-process", "signal-host-process", "trace-process", "setuid-file", "see-sysfs"}) {
    INFO(attack);
    CHECK(works(outcome, attack));
  }
  CHECK(outcome.report.find("host-loopback")->answer == "ECONNREFUSED");  // nobody listens at port 1
}

TEST_CASE("outside of a jail, what root may do works for root") {
  if (::geteuid() != 0) {
    WARN("not root");
    return;
  }
  const ControlOutcome outcome =
      run_outside(probe(), {"attacks", "1", "nobody-listens", std::to_string(::getpid()), "/etc/hostname"});
  for (const char* attack :
       {"write-usr", "write-etc", "read-shadow", "change-kernel-setting", "become-root", "mount"}) {
    INFO(attack);
    CHECK(works(outcome, attack));
  }
}

TEST_CASE("the attacks leave nothing behind outside") {
  const auto names = [](const char* directory) {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory))
      if (entry.path().filename().string().find("mayfly-probe") != std::string::npos) found.insert(entry.path());
    return found;
  };
  run_outside(probe(), {"attacks", "1", "nobody-listens", std::to_string(::getpid()), "/etc/hostname"});
  run_outside(probe(), {"disk", "100000"});
  for (const char* directory : {"/", "/usr", "/etc", "/tmp"}) CHECK(names(directory).empty());
}

TEST_CASE("each limit can be met outside") {
  CHECK(works(run_outside(probe(), {"memory", "1000000"}), "memory"));
  CHECK(works(run_outside(probe(), {"processes", "8"}), "processes"));
  CHECK(works(run_outside(probe(), {"disk", "100000"}), "disk"));
  CHECK(works(run_outside(probe(), {"cpu", "0.05"}), "cpu"));
  CHECK(works(run_outside(probe(), {"sleep", "1"}), "sleep"));
}

TEST_CASE("a probe that is not there was not tried, and that is said") {
  const ControlOutcome outcome = run_outside("/nonexistent/mayfly-probe", {"cpu", "1"});
  CHECK(outcome.report.lines.empty());
  CHECK_FALSE(outcome.not_tried.empty());
}
