// The mounts of a jail that is over soon are left to the kernel: pid 1 need not wait for them, and they go all the
// same.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>

#include "jail/builder/inside/left_mounts.h"
#include "tests/builder/bench.h"

using namespace mayfly;
using namespace mayfly::bench;

namespace {

constexpr std::size_t kOfTheRing = 2;  // sockets that pid 1 keeps of it (left_mounts.h)

Bench start_bench() {
  auto started = Bench::start({});
  if (!started) FAIL(started.error().text());
  return std::move(*started);
}

Job job_in(std::uint32_t slot, const std::vector<std::string>& argv) {
  Job job = job_for(argv);
  job.plan.slot = slot;
  return job;
}

std::size_t sockets_of(pid_t pid) {
  std::size_t count = 0;
  std::error_code gone;  // descriptors come and go while we look
  std::filesystem::directory_iterator entry("/proc/" + std::to_string(pid) + "/fd", gone);
  for (; !gone && entry != std::filesystem::directory_iterator(); entry.increment(gone)) {
    std::error_code closed;
    if (std::filesystem::read_symlink(entry->path(), closed).string().starts_with("socket:")) ++count;
  }
  return count;
}

// The most that pid 1 has had at once in the first moments of a program that runs on, and what it has for good.
struct Sockets {
  std::size_t most = 0, left = 0;
};

Sockets watch(Bench& bench, std::uint32_t slot) {
  Built jail = bench.build(job_in(slot, {"sleep", "20"}));
  REQUIRE(jail.at_gate);
  bench.open_gate(jail);
  Sockets seen;
  for (int i = 0; i < 150; ++i, ::usleep(1000)) seen.most = std::max(seen.most, sockets_of(jail.reply.pid));
  seen.left = sockets_of(jail.reply.pid);
  bench.destroy(jail);
  CHECK(bench.wait_released(slot));
  return seen;
}

std::uint64_t shared_memory() {  // KiB, the pages of every tmpfs among them
  const std::string text = read_text("/proc/meminfo");
  return std::stoull(text.substr(text.find("Shmem:") + 6));
}

}  // namespace

// Released is the end of the network namespace; the kernel orders nothing after it, so a moment is allowed.
TEST_CASE("what a short run wrote is the host's again when it is released, or a moment later", "[P07][root]") {
  constexpr std::uint64_t kWritten = 24u << 10;  // KiB
  Bench bench = start_bench();
  for (std::uint32_t slot = 0; slot < 8; ++slot) {
    const std::uint64_t before = shared_memory();
    Job job = job_in(slot, {"sh", "-c", "head -c 24M /dev/zero > /tmp/much && stat -c %s /tmp/much"});
    job.plan.disk_bytes = 64u << 20;
    Built jail = bench.build(job);
    REQUIRE(jail.at_gate);
    CHECK(bench.run(jail).out == std::to_string(kWritten << 10) + "\n");
    CHECK(bench.wait_released(slot));
    for (int i = 0; i < 100 && shared_memory() >= before + kWritten / 2; ++i) ::usleep(1000);
    CHECK(shared_memory() < before + kWritten / 2);
  }
}

TEST_CASE("pid 1 of a program that runs on holds its mounts itself again", "[P07][root]") {
  Bench bench = start_bench();
  bool was_left = false;
  for (std::uint32_t slot = 0; slot < 5 && !was_left; ++slot) {
    const Sockets seen = watch(bench, slot);
    was_left = seen.most == seen.left + kOfTheRing;
  }
  CHECK(was_left);
}

TEST_CASE("with many jails every pid 1 waits for its own mounts", "[root]") {
  Bench bench = start_bench();
  std::vector<Built> live;
  for (std::uint32_t slot = 0; slot < kFewJails; ++slot) {
    live.push_back(bench.build(job_in(slot, {"true"})));
    REQUIRE(live.back().at_gate);
  }
  for (std::uint32_t slot = kFewJails; slot < kFewJails + 3; ++slot) {
    const Sockets seen = watch(bench, slot);
    CHECK(seen.most == seen.left);
  }
  for (Built& jail : live) bench.destroy(jail);
}
