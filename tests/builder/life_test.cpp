// How jails end, and what they leave: nothing.
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <set>

#include "tests/builder/bench.h"

using namespace mayfly;
using namespace mayfly::bench;

namespace {

Bench start_bench(bool made_ahead = false) {
  BenchOptions options;
  options.made_ahead = made_ahead;
  auto started = Bench::start(options);
  if (!started) FAIL(started.error().text());
  return std::move(*started);
}

bool ends_within(const Fd& pidfd, int milliseconds) {
  pollfd gone{pidfd.get(), POLLIN, 0};
  return ::poll(&gone, 1, milliseconds) == 1;
}

std::size_t entries_of(const std::string& path) {
  std::size_t count = 0;
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return 0;
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

std::size_t lines_of(const std::string& path) {
  const std::string text = read_text(path);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

struct Footprint {
  std::size_t descriptors, mounts, children;
  explicit Footprint(pid_t pid) {
    const std::string proc = "/proc/" + std::to_string(pid);
    descriptors = entries_of(proc + "/fd");
    mounts = lines_of(proc + "/mountinfo");
    const std::string text = read_text(proc + "/task/" + std::to_string(pid) + "/children");
    children = static_cast<std::size_t>(std::count(text.begin(), text.end(), ' '));
  }
  bool operator==(const Footprint&) const = default;
};

// "" of a descriptor that has been closed meanwhile.
std::string link_of(const std::filesystem::path& path) {
  std::error_code gone;
  return std::filesystem::read_symlink(path, gone).string();
}

// Network namespaces behind the descriptors of a process: "net:[4026532249]".
std::set<std::string> networks_held(const std::string& descriptors) {
  std::set<std::string> held;
  for (const auto& entry : std::filesystem::directory_iterator(descriptors))
    if (std::string link = link_of(entry.path()); link.rfind("net:", 0) == 0) held.insert(link);
  return held;
}

}  // namespace

TEST_CASE("a jail dies with its supervisor, at the gate and while it runs", "[P09][root]") {
  Bench bench = start_bench();
  Built waiting = bench.build(job_for({"sleep", "20"}));
  Job second = job_for({"sleep", "20"});
  second.plan.slot = 1;
  Built running = bench.build(second);
  REQUIRE(waiting.at_gate);
  REQUIRE(running.at_gate);
  bench.open_gate(running);
  bench.kill_supervisor();
  CHECK(ends_within(waiting.pidfd, 2000));
  CHECK(ends_within(running.pidfd, 2000));
}

TEST_CASE("a jail ends when the supervisor lets go of its gate", "[P09][root]") {
  Bench bench = start_bench();
  Built jail = bench.build(job_for({"sleep", "20"}));
  REQUIRE(jail.at_gate);
  jail.gate.reset();
  CHECK(ends_within(jail.pidfd, 2000));
}

TEST_CASE("pid 1 holds the wall limit by itself, two seconds later", "[P06][root]") {
  Bench bench = start_bench();
  Job job = job_for({"sleep", "20"});
  job.plan.wall_ms = 100;
  Built jail = bench.build(job);
  REQUIRE(jail.at_gate);
  bench.open_gate(jail);
  CHECK_FALSE(ends_within(jail.pidfd, 1500));
  CHECK(ends_within(jail.pidfd, 2500));
}

TEST_CASE("whatever the main program leaves running ends with pid 1", "[P07][root]") {
  Bench bench = start_bench();
  Built jail = bench.build(job_for({"/bin/sh", "-c", "setsid sleep 20 & (setsid sleep 20 &) ; exit 0"}));
  REQUIRE(jail.at_gate);
  const Outcome outcome = bench.run(jail);  // reads the pipes, which they hold, to their end
  CHECK(outcome.ended);
}

TEST_CASE("a flood of orphans is reaped, and the end of the main program still seen", "[root]") {
  Bench bench = start_bench();
  Built jail = bench.build(job_for({"/bin/sh", "-c",
                                    "i=0; while [ $i -lt 300 ]; do (true & ); i=$((i+1)); done;"
                                    "sleep 0.3; ls /proc | grep -c '^[0-9]'; exit 5"}));
  REQUIRE(jail.at_gate);
  const Outcome outcome = bench.run(jail);
  REQUIRE(outcome.ended);
  CHECK(std::stoi(outcome.out) < 8);
}

TEST_CASE("the release of a jail's network is told, made ahead or not", "[P07][root]") {
  const bool made_ahead = GENERATE(false, true);
  Bench bench = start_bench(made_ahead);
  if (made_ahead) ::usleep(200'000);
  Job job = job_for({"true"});
  job.plan.slot = 9;
  Built jail = bench.build(job);
  REQUIRE(jail.at_gate);
  CHECK(bench.run(jail).ended);
  CHECK(bench.wait_released(9));
}

TEST_CASE("a network namespace that was prepared is for the next plan alone, and made ahead it is not", "[P07][root]") {
  Bench bench = start_bench();
  const std::string descriptors = "/proc/" + std::to_string(bench.pid()) + "/fd";
  const std::size_t before = entries_of(descriptors);
  const std::set<std::string> own = networks_held(descriptors);
  const auto prepared_after = [&](const std::string& other) {
    bench.prepare();
    for (int i = 0; i < 2000; ++i, ::usleep(1000))
      for (const std::string& network : networks_held(descriptors))
        if (!own.contains(network) && network != other) return network;
    return std::string();
  };
  const std::string first = prepared_after("");
  const std::string prepared = prepared_after(first);
  REQUIRE_FALSE(prepared.empty());
  const std::size_t more = bench.ready().landlock_abi > 0 ? 4 : 3;
  for (int i = 0; i < 1000 && entries_of(descriptors) != before + more; ++i) ::usleep(1000);
  CHECK(entries_of(descriptors) ==
        before + more);  // network, root, its context, its ruleset; the first ones were thrown away
  const bool asks_for_it = GENERATE(true, false);
  Job job = job_for(
      {"python3", "-I", "-c",
       "import socket; s = socket.create_server(('127.0.0.1', 5000)); socket.create_connection(('127.0.0.1', 5000));"
       "print(open('/proc/sys/net/core/somaxconn').read().strip())"});
  job.plan.prepared = asks_for_it ? 1 : 0;
  Built jail = bench.build(job);
  REQUIRE(jail.at_gate);
  CHECK(jail.reply.parts_made_ahead == 0);
  CHECK(entries_of(descriptors) == before);
  CHECK((link_of("/proc/" + std::to_string(jail.program) + "/ns/net") == prepared) == asks_for_it);
  CHECK(bench.run(jail).out == "16\n");
  CHECK(bench.wait_released(0));
  Built next = bench.build(job);
  REQUIRE(next.at_gate);
  CHECK(bench.run(next).ended);
}

TEST_CASE("a hundred jails leave no process, descriptor or mount with the builder", "[P07][root]") {
  Bench bench = start_bench();
  Built first = bench.build(job_for({"true"}));
  (void)bench.run(first);
  CHECK(bench.wait_released(0));
  const Footprint before(bench.pid());
  for (std::uint32_t i = 0; i < 100; ++i) {
    Job job = job_for({"true"});
    job.plan.slot = i;
    Built jail = bench.build(job);
    REQUIRE(jail.at_gate);
    REQUIRE(bench.run(jail).ended);
  }
  for (std::uint32_t i = 0; i < 100; ++i) REQUIRE(bench.wait_released(i));
  CHECK(Footprint(bench.pid()) == before);
}

TEST_CASE("with many live jails one more is built, and its descriptors are its own", "[P84][root]") {
  Bench bench = start_bench(true);
  std::vector<Built> live;
  for (std::uint32_t i = 0; i < 150; ++i) {
    Job job = job_for({"sleep", "30"});
    job.plan.slot = i;
    job.plan.open_files = 16;
    live.push_back(bench.build(job));
    REQUIRE(live.back().at_gate);
  }
  CHECK(entries_of("/proc/" + std::to_string(live.back().reply.pid) + "/fd") <= 2 + 12);
  for (Built& jail : live) bench.destroy(jail);
}

TEST_CASE("a message that is no plan is refused, and the builder goes on", "[P10][root]") {
  Bench bench = start_bench();
  Job broken = job_for({"true"});
  broken.plan.bind_row = 7;
  const Built refused = bench.build(broken);
  CHECK(refused.reply.says == BuilderSays::Failed);
  CHECK(refused.reply.error == EINVAL);
  CHECK_FALSE(refused.pidfd);
  Built jail = bench.build(job_for({"true"}));
  REQUIRE(jail.at_gate);
  CHECK(bench.run(jail).ended);
}
