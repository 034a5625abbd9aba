// The groups of this host's kernel: what is limited is limited, what is killed is dead, and nothing is left behind.
// Runs on v1 (as root) and on v2 (as root, or in a delegated group); each test uses an instance id of its own.
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "jail/os/child.h"
#include "jail/os/clock.h"
#include "jail/supervisor/cgroup.h"
#include "tests/catch/skip.h"

using namespace mayfly;

namespace {

constexpr GroupLimits kLimits{Bytes{32u << 20}, 24, MilliCpus{500}};

// Catch2 2 cannot skip: where there are no groups to be had, the whole executable says so before its main.
const bool kHasGroups = [] {
  auto sight = CgroupSight::of_this_process();
  auto host = CgroupHost::open({"5eed5eed5eed", {}, false}, *sight);
  if (host && (*host)->kind() != CgroupKind::None) return true;
  std::exit(test::skip("needs root, or a delegated cgroup v2 group"));
}();

std::unique_ptr<CgroupHost> open_host(bool made_ahead = false) {
  const std::string instance = "c0ffee" + std::to_string(100000 + ::getpid() % 899999);
  auto sight = CgroupSight::of_this_process();
  REQUIRE(sight.has_value());
  auto host = CgroupHost::open({instance, {}, made_ahead}, *sight);
  INFO((host ? "" : host.error().text()));
  REQUIRE(kHasGroups);
  REQUIRE(host.has_value());
  return std::move(*host);
}

JailCgroup make_group(CgroupHost& host, const GroupLimits& limits = kLimits) {
  auto group = host.make(1, limits);
  INFO((group ? "" : group.error().text()));
  REQUIRE(group.has_value());
  return std::move(*group);
}

// A child that is in the group before it does anything, by the way that a jail uses.
template <typename Body>
pid_t start_in(const JailCgroup& group, Body body) {
  struct {
    std::uint64_t flags = 0, pidfd = 0, child_tid = 0, parent_tid = 0, exit_signal = SIGCHLD, stack = 0, stack_size = 0,
                  tls = 0, set_tid = 0, set_tid_size = 0, cgroup = 0;
  } arguments;
  if (group.kind() == CgroupKind::V2) {
    arguments.flags = 0x200000000ull;  // CLONE_INTO_CGROUP
    arguments.cgroup = static_cast<std::uint64_t>(group.attach_fds()[0]);
  }
  const long pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid != 0) return static_cast<pid_t>(pid);
  if (group.kind() == CgroupKind::V1)
    for (const int tasks : group.attach_fds())
      if (::write(tasks, "0", 1) != 1) ::_exit(99);
  body();
  ::_exit(0);
}

int status_of(pid_t pid) {
  int status = -1;
  REQUIRE(::waitpid(pid, &status, 0) == pid);
  return status;
}

std::string cgroup_text(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/cgroup");
  return {std::istreambuf_iterator<char>(in), {}};
}

bool limits(const CgroupHost& host, Control control) {
  const Measured word = host.controller(control).expected;
  return word == Measured::CgroupV1 || word == Measured::CgroupV2;
}

void eat(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) ::_exit(98);
  std::memset(memory, 1, bytes);
}

[[noreturn]] void multiply() {
  for (;;) ::fork();
}

}  // namespace

TEST_CASE("a child of the group is measured in it, with the limits that were asked for") {
  auto host = open_host();
  JailCgroup group = make_group(*host);
  const pid_t child = start_in(group, [] { ::pause(); });
  REQUIRE(child > 0);
  GroupMeasured found;
  for (int i = 0; i < 200; ++i) {  // v1: until the child has entered
    found = group.measure(cgroup_text(child));
    if (found.disagreement.empty()) break;
    ::usleep(1000);
  }
  INFO(found.disagreement);
  CHECK((found.memory == LimitState::AsAsked) == limits(*host, Control::Memory));
  CHECK((found.cpu == LimitState::AsAsked) == limits(*host, Control::Cpu));
  CHECK((found.processes == LimitState::AsAsked) == limits(*host, Control::Processes));
  CHECK(group.measure(cgroup_text(::getpid())).memory != LimitState::AsAsked);
  ::kill(child, SIGKILL);
  status_of(child);
  CHECK(group.remove().has_value());
}

TEST_CASE("memory stops at its limit, the event comes at once, and the group is accounted for") {
  auto host = open_host();
  if (!limits(*host, Control::Memory)) {
    WARN("memory is not limited here");
    return;
  }
  JailCgroup group = make_group(*host);
  const pid_t child = start_in(group, [] { eat(256u << 20); });
  REQUIRE(group.oom_fd() >= 0);
  // Events come before the kill too: at the limit (v2), at the OOM (v1).
  OomSign sign = OomSign::None;
  std::string told;
  const Microseconds start = monotonic_now(), deadline = start + Microseconds{60'000'000};
  while (sign != OomSign::Struck && monotonic_now() < deadline) {
    pollfd waited{group.oom_fd(), static_cast<short>(group.oom_interest()), 0};
    const int ready = ::poll(&waited, 1, sign == OomSign::Pending ? 5 : 20'000);
    REQUIRE(ready >= 0);
    sign = group.look_for_oom();
    told += std::to_string((monotonic_now() - start).count()) + " us: poll " + std::to_string(ready) + ", oom kills " +
            std::to_string(group.events().oom_kills) + "\n";
  }
  INFO(told);
  CHECK(sign == OomSign::Struck);
  const int status = status_of(child);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
  CHECK(group.events().oom_kills >= 1);
  const auto peak = group.account().memory_peak;
  if (peak.value) {
    CHECK(peak.value->count <= kLimits.memory.count);
    CHECK(peak.value->count > kLimits.memory.count / 2);
  } else {
    CHECK_FALSE(peak.why.empty());
  }
  CHECK(group.remove().has_value());
}

TEST_CASE("a fork bomb stays below its limit and is dead within a second of kill_all") {
  auto host = open_host();
  if (!limits(*host, Control::Processes)) {
    WARN("processes are not limited here");
    return;
  }
  // Memory for all of them: a copy of a process with sanitizers takes more than a megabyte.
  JailCgroup group = make_group(*host, {Bytes{512u << 20}, kLimits.processes, kLimits.cpus});
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  const pid_t child = start_in(group, [] { multiply(); });
  REQUIRE(child > 0);
  for (int i = 0; i < 100 && group.events().pids_max_hits == 0; ++i) ::usleep(100'000);
  CHECK(group.usage().processes.value <= kLimits.processes);
  CHECK(group.events().pids_max_hits > 0);
  const Microseconds start = monotonic_now();
  Expected<void> killed = group.kill_all();
  for (int i = 0; i < 10 && !killed; ++i) killed = group.kill_all();
  CHECK(killed.has_value());
  CHECK(monotonic_now() - start < Microseconds{2'000'000});
  // A zombie counts as a process until somebody has reaped it.
  for (int i = 0; i < 2000 && group.usage().processes.value != 0u; ++i)
    if (::waitpid(-1, nullptr, WNOHANG) <= 0) ::usleep(5000);
  CHECK(group.usage().processes.value == 0u);
  CHECK(group.remove().has_value());
}

TEST_CASE("the kill descriptor alone ends or frees the group, as the relay uses it") {
  auto host = open_host();
  if (!limits(*host, Control::Cpu)) {
    WARN("cpu is not limited here");
    return;
  }
  JailCgroup group = make_group(*host);
  const pid_t child = start_in(group, [] {
    for (;;) {
    }
  });
  REQUIRE(group.kill_fd() >= 0);
  const std::string text = group.kill_text();
  REQUIRE(::write(group.kill_fd(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  if (text == "1") {
    CHECK(WIFSIGNALED(status_of(child)));
  } else {
    CHECK(group.measure(cgroup_text(child)).cpu == LimitState::Other);  // the quota is gone
    ::kill(child, SIGKILL);
    status_of(child);
  }
  CHECK(group.remove().has_value());
}

TEST_CASE("CPU time is throttled to the share and counted") {
  auto host = open_host();
  if (!limits(*host, Control::Cpu)) {
    WARN("cpu is not limited here");
    return;
  }
  JailCgroup group = make_group(*host, {Bytes{32u << 20}, 8, MilliCpus{200}});
  const pid_t child = start_in(group, [] {
    for (;;) {
    }
  });
  ::usleep(1'000'000);
  ::kill(child, SIGKILL);
  CHECK(group.lift_cpu_quota().has_value());
  status_of(child);
  const auto used = group.account().cpu;
  if (used.value) {
    CHECK(used.value->count() < 450'000);
    CHECK(used.value->count() > 20'000);
  }
  CHECK(group.remove().has_value());
}

TEST_CASE("a jail's group that is destroyed while something runs in it kills that and is gone") {
  auto host = open_host();
  pid_t child = 0;
  {
    const JailCgroup group = make_group(*host);
    child = start_in(group, [] { ::pause(); });
    ::usleep(100'000);
  }
  CHECK(WIFSIGNALED(status_of(child)));
}

TEST_CASE("the next start of an instance removes what a dead engine left, processes included") {
  auto host = open_host();
  const std::string dead = "dead0000beef";
  auto sight = CgroupSight::of_this_process();
  const pid_t engine = ::fork();
  if (engine == 0) {
    auto other = CgroupHost::open({dead, {}, true}, *sight);
    if (!other) ::_exit(1);
    auto group = (*other)->make(1, kLimits);
    if (!group) ::_exit(2);
    start_in(*group, [] { ::pause(); });
    ::usleep(50'000);
    ::_exit(0);  // no destructor runs: a crash
  }
  CHECK(status_of(engine) == 0);
  const auto others = host->other_instances();
  CHECK(std::find(others.begin(), others.end(), dead) != others.end());
  const auto cleaned = host->clean_stale(dead);
  INFO((cleaned ? "" : cleaned.error().text()));
  CHECK(cleaned.has_value());
  const auto after = host->other_instances();
  CHECK(std::find(after.begin(), after.end(), dead) == after.end());
}

TEST_CASE("a group made ahead is as good as one made in time") {
  auto host = open_host(true);
  host->expect(kLimits);
  while (host->refill(2)) {
  }
  JailCgroup group = make_group(*host);
  CHECK(group.made_ahead());
  const pid_t child = start_in(group, [] {});
  CHECK(status_of(child) == 0);
  CHECK(group.remove().has_value());
}
