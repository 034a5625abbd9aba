#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "jail/os/fd.h"
#include "tests/hostile/arena.h"

using namespace mayfly;
using namespace mayfly::test;

namespace {

double cpu_seconds(const Outcome& outcome) {
  return outcome.result.metrics.cpu.value ? static_cast<double>(outcome.result.metrics.cpu.value->count()) / 1e6 : -1;
}

// Records of the kernel's log since the mark that speak of our program.
class KernelLog {
 public:
  KernelLog() : log_(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (log_) ::lseek(log_.get(), 0, SEEK_END);
  }
  int records_about(const char* word) {
    char record[8192];
    int found = 0;
    for (int most = 0; log_ && most < 100000; ++most) {
      const ssize_t count = ::read(log_.get(), record, sizeof record - 1);
      if (count <= 0) break;
      record[count] = 0;
      if (std::string_view(record).find(word) != std::string_view::npos) ++found;
    }
    return found;
  }

 private:
  Fd log_;
};

}  // namespace

TEST_CASE("A18 eight processes that burn on every processor get the jail's share and no more", "[P06][cgroup]") {
  Attack hog{.program = "cpu_hog"};
  hog.limits.wall_ms = 4000;
  hog.limits.cpus = 0.5;
  const Outcome inside = arena().attack(hog);
  INFO(inside.story() << "\ncpu " << cpu_seconds(inside));
  CHECK(inside.ended(Ending::TimeLimit));
  CHECK(inside.result.metrics.wall < std::chrono::seconds(5));
  CHECK(inside.result.metrics.closed < std::chrono::seconds(1));
  if (arena().has_cgroups()) CHECK(cpu_seconds(inside) < 0.5 * 4.0 * 1.25);
}

TEST_CASE("A18 real-time and deadline scheduling are refused", "[P11]") {
  if (arena().as_root()) CHECK(arena().control({"real_time"}).lines.of("fifo") == "ok");
  const Outcome inside = arena().attack({.program = "real_time"});
  INFO(inside.story());
  CHECK(inside.lines.named_with("EPERM") == "deadline fifo rr");
  CHECK(inside.lines.of("batch") == "ok");
  CHECK(inside.lines.of("nice") == "EACCES");
}

TEST_CASE("A28 CPU time burnt by orphans and short children counts", "[P06][cgroup]") {
  Attack orphans{.program = "cpu_orphans"};
  orphans.limits.cpu_ms = 1000;
  orphans.limits.wall_ms = 20000;
  const Outcome inside = arena().attack(orphans);
  INFO(inside.story() << "\ncpu " << cpu_seconds(inside));
  if (arena().has_cgroups()) CHECK(inside.ended(Ending::CpuLimit));
  if (arena().has_cgroups()) CHECK(cpu_seconds(inside) < 2.5);
}

TEST_CASE("A28 a sleeper ends at the wall limit and not at the CPU limit", "[P06]") {
  Attack sleeper;
  sleeper.command = {"/bin/sleep", "100"};
  sleeper.limits.wall_ms = 1000;
  const Outcome inside = arena().attack(sleeper);
  INFO(inside.story());
  CHECK(inside.ended(Ending::TimeLimit));
  CHECK(inside.result.metrics.wall < std::chrono::seconds(2));
}

TEST_CASE("A19 a storm of signals, clones and exits does not delay the wall limit", "[P06]") {
  Attack storm{.program = "signal_storm"};
  storm.limits.wall_ms = 2000;
  const Outcome inside = arena().attack(storm);
  INFO(inside.story());
  CHECK(inside.ended(Ending::TimeLimit));
  CHECK(inside.result.metrics.wall < std::chrono::seconds(3));
}

TEST_CASE("A20 refused calls write nothing into the kernel's log", "[P06]") {
  KernelLog log;
  const Outcome inside = arena().attack({.program = "refused_calls"});
  INFO(inside.story());
  CHECK(inside.lines.number("calls") == 400000);
  CHECK(log.records_about("hostile") == 0);
  CHECK(log.records_about("seccomp") == 0);
}

TEST_CASE("A20 no filter of a program's own makes the kernel log its calls", "[P06]") {
  KernelLog log;
  const Outcome inside = arena().attack({.program = "logging_filter"});
  INFO(inside.story());
  CHECK(inside.lines.of("seccomp") == "ENOSYS");
  CHECK(inside.lines.of("prctl") == "EINVAL");
  CHECK(log.records_about("hostile") == 0);
}

TEST_CASE("A21 endless output is cut visibly and the jail ends at a limit", "[P33][P34]") {
  Attack flood{.program = "endless_output"};
  flood.limits.wall_ms = 3000;
  flood.limits.output_bytes = 65536;
  const Outcome inside = arena().attack(flood);
  INFO(name(inside.result.ending) << " " << inside.result.text << " bytes " << inside.result.out.bytes);
  CHECK((inside.ended(Ending::TimeLimit) || inside.ended(Ending::OutputLimit)));
  CHECK(inside.result.out.truncated);
  CHECK(inside.out.size() == 65536);
  CHECK(inside.result.out.bytes > 65536);
  CHECK(inside.reached(LimitReached::Output));
}

TEST_CASE("A21 a reader that never reads holds the program up and costs no CPU", "[P33]") {
  Attack flood{.program = "endless_output"};
  flood.limits.wall_ms = 2000;
  const auto deaf = [](EngineRuns& runs, RunNumber number) {
    if (runs.run(number).result)
      runs.read_again();
    else
      runs.stop_reading(number);
  };
  const Outcome inside = arena().attack_while(flood, deaf);
  INFO(name(inside.result.ending) << " cpu " << cpu_seconds(inside) << " bytes " << inside.result.out.bytes);
  CHECK(inside.ended(Ending::TimeLimit));
  CHECK(inside.result.out.bytes < (1u << 20));
  if (arena().has_cgroups()) CHECK(cpu_seconds(inside) < 0.5);
}

TEST_CASE("A62 a compiler that reads without end ends at a limit of the same jail", "[P06]") {
  Attack compiler;
  compiler.command = {"/bin/sh", "-c", "printf '#include \"/dev/zero\"\\n' | gcc -E -x c - >/dev/null; echo gcc=$?"};
  compiler.limits.wall_ms = 8000;
  const Outcome inside = arena().attack(compiler);
  INFO(inside.story());
  CHECK((inside.ended(Ending::MemoryLimit) || inside.ended(Ending::TimeLimit) || inside.ended(Ending::Exited)));
}
