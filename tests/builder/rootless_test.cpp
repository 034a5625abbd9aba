// The builder under an ordinary uid: everything that a user namespace allows, and an honest word about the rest.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdio>

#include "tests/builder/bench.h"

using namespace mayfly;
using namespace mayfly::bench;

namespace {

constexpr uid_t kOrdinary = 65534;

std::optional<Bench> start_rootless(bool made_ahead = false) {
  BenchOptions options;
  options.rootless = true;
  options.uid = kOrdinary;
  options.made_ahead = made_ahead;
  auto started = Bench::start(options);
  if (!started) {
    WARN("not provable on this host: " << started.error().text());
    return std::nullopt;
  }
  return std::move(*started);
}

}  // namespace

TEST_CASE("without root a jail is built all the same, under the caller's single uid", "[P21][root]") {
  auto bench = start_rootless();
  if (!bench) return;
  Built jail = bench->build(job_for({"/bin/sh", "-c", "id -u; cat /proc/self/uid_map | tr -s ' '; hostname"}));
  if (jail.failed) FAIL("step " << name(static_cast<Step>(jail.failed->step)) << " errno " << jail.failed->error);
  REQUIRE(jail.at_gate);
  const Outcome outcome = bench->run(jail);
  if (bench->ready().proc_available != 0)
    CHECK(outcome.out == "1000\n 1000 65534 1\nmayfly\n");
  else
    CHECK_THAT(outcome.out, Catch::StartsWith("1000\n"));
}

TEST_CASE("without root every layer that needs none is on", "[P21][root]") {
  auto bench = start_rootless();
  if (!bench) return;
  Job job = job_for({"/bin/sh", "-c",
                     "grep -E '^(Cap|NoNew|Seccomp:)' /proc/self/status | sort -u | tr '\\t' ' ';"
                     "ls /proc | grep -c '^1$'; touch /usr/x; echo x > /etc/x"});
  add_file(job, "file", "text", false);
  Built jail = bench->build(job);
  REQUIRE(jail.at_gate);
  CHECK(jail.at_gate->landlock_errno == (bench->ready().landlock_abi > 0 ? EACCES : 0));
  const Outcome outcome = bench->run(jail);
  if (bench->ready().proc_available != 0)
    CHECK(outcome.out ==
          "CapAmb: 0000000000000000\nCapBnd: 0000000000000000\nCapEff: 0000000000000000\nCapInh: 0000000000000000\n"
          "CapPrm: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n0\n");
  CHECK_THAT(outcome.err, Catch::Contains("Read-only file system") || Catch::Contains("Permission denied"));
}

TEST_CASE("without root the program at the gate can be measured by its own user", "[P20][root]") {
  auto bench = start_rootless();
  if (!bench) return;
  Built jail = bench->build(job_for({"sleep", "20"}));
  REQUIRE(jail.at_gate);
  struct stat status {};
  const std::string proc = "/proc/" + std::to_string(jail.program);
  REQUIRE(::stat((proc + "/ns").c_str(), &status) == 0);
  CHECK(status.st_uid == kOrdinary);  // dumpable: its files belong to its user and not to root
  bench->destroy(jail);
}

TEST_CASE("without root terminals and networks made ahead work, and the release is told", "[P21][root]") {
  auto bench = start_rootless(true);
  if (!bench) return;
  ::usleep(300'000);
  Job job = job_for({"/bin/sh", "-c", "tty; stty size"});
  job.plan.terminal = 1;
  Built jail = bench->build(job);
  REQUIRE(jail.at_gate);
  CHECK(jail.reply.parts_made_ahead == 1);
  CHECK(bench->run(jail).out == "/dev/pts/0\r\n24 80\r\n");
  CHECK(bench->wait_released(0));
}
