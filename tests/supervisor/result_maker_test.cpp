#include "jail/supervisor/result_maker.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <set>

using namespace mayfly;
using namespace mayfly::literals;

namespace {

constexpr int exited(int code) { return code << 8; }

Spec exec_spec() {
  Spec spec;
  spec.limits = kExecLimits.defaults;
  return spec;
}

Findings with_cpu(Microseconds used) {
  Findings findings;
  findings.metrics.cpu.value = used;
  return findings;
}

Result result_of(const Decision& first, const Findings& findings) {
  const Spec spec = exec_spec();
  return make_result(spec, final_decision(first, findings, spec.limits), Controls{}, findings);
}

}  // namespace

TEST_CASE("exit codes and signals are told apart") {
  const Result three = result_of(from_wait_status(exited(3)), {});
  CHECK(three.ending == Ending::Exited);
  CHECK(three.exit_code == 3);
  CHECK_FALSE(three.signal_number);
  CHECK(three.text == "exited with status 3");
  const Result killed = result_of(from_wait_status(SIGSEGV), {});
  CHECK(killed.ending == Ending::Signalled);
  CHECK_FALSE(killed.exit_code);
  CHECK(killed.signal_number == SIGSEGV);
  CHECK(killed.text == "died of SIGSEGV");
  CHECK(result_of(from_wait_status(exited(137)), {}).ending == Ending::Exited);
}

TEST_CASE("an OOM kill makes it memory-limit, however the main program ended") {
  Findings findings;
  findings.oom_kills = 1;
  for (const int status : {exited(0), exited(1), SIGKILL}) {
    const Result result = result_of(from_wait_status(status), findings);
    CHECK(result.ending == Ending::MemoryLimit);
    CHECK_FALSE(result.exit_code);
    CHECK_FALSE(result.signal_number);
    CHECK(result.limits_reached == std::vector{LimitReached::Memory});
  }
  CHECK(result_of(failed_at(Step::None, 0, "its first process ended"), findings).ending == Ending::MemoryLimit);
}

TEST_CASE("an OOM kill does not change an ending that was decided for another reason") {
  Findings findings;
  findings.oom_kills = 1;
  CHECK(result_of(ended_as(Ending::TimeLimit), findings).ending == Ending::TimeLimit);
  CHECK(result_of(ended_as(Ending::Cancelled), findings).ending == Ending::Cancelled);
  CHECK(result_of(failed_at(Step::MakeRoot, ENOSPC), findings).ending == Ending::Failed);
}

TEST_CASE("SIGXCPU or SIGKILL at the CPU limit is cpu-limit, before it a signal of the program's own") {
  for (const int signal : {SIGXCPU, SIGKILL}) {
    CHECK(result_of(from_wait_status(signal), with_cpu(60_s)).ending == Ending::CpuLimit);
    CHECK(result_of(from_wait_status(signal), with_cpu(2_s)).ending == Ending::Signalled);
    CHECK(result_of(from_wait_status(signal), {}).ending == Ending::Signalled);
  }
  CHECK(result_of(from_wait_status(SIGTERM), with_cpu(60_s)).ending == Ending::Signalled);
}

TEST_CASE("a program whose output was lost with its relay has failed; one over its limit keeps its ending") {
  Findings findings;
  findings.relay_lost = true;
  const Result failed = result_of(from_wait_status(exited(0)), findings);
  CHECK(failed.ending == Ending::Failed);
  CHECK_FALSE(failed.exit_code);
  CHECK(failed.output_incomplete);
  const Result late = result_of(ended_as(Ending::TimeLimit), findings);
  CHECK(late.ending == Ending::TimeLimit);
  CHECK(late.output_incomplete);
}

TEST_CASE("an end of its own over the output ceiling is output-limit; what a relay counted cannot wrap around") {
  const std::uint64_t ceiling = kExecLimits.defaults.output_ceiling.count;
  Findings findings;
  findings.out.bytes = ceiling;
  CHECK(result_of(from_wait_status(exited(0)), findings).ending == Ending::Exited);
  findings.err.bytes = 1;
  CHECK(result_of(from_wait_status(exited(0)), findings).ending == Ending::OutputLimit);
  CHECK(result_of(ended_as(Ending::TimeLimit), findings).ending == Ending::TimeLimit);
  findings.out.bytes = findings.err.bytes = UINT64_MAX;
  CHECK(result_of(from_wait_status(exited(0)), findings).ending == Ending::OutputLimit);
}

TEST_CASE("a program that cannot be started is named, and not the code that it would have run") {
  Spec spec = exec_spec();
  spec.command = "nosuch --option";
  const Decision first = failed_at(Step::Execute, ENOENT);
  Text from_peer;
  from_peer.in_payload = true;
  spec.argv = {from_peer};
  const std::string words = "the program cannot be started in the jail: No such file or directory: ";
  CHECK(make_result(spec, first, Controls{}, {}).text == words + "nosuch");
  Text ours;
  ours.own = "/usr/bin/python3";
  spec.argv = {ours};
  CHECK(make_result(spec, first, Controls{}, {}).text == words + "/usr/bin/python3");
}

TEST_CASE("the folders that a jail has of its profile are named") {
  Spec spec = exec_spec();
  CHECK(make_result(spec, ended_as(Ending::Exited), Controls{}, {}).folders.empty());
  spec.has_data = true;
  CHECK(make_result(spec, ended_as(Ending::Exited), Controls{}, {}).folders == std::vector<std::string>{"readonly"});
  spec.has_seed = true;
  CHECK(make_result(spec, ended_as(Ending::Exited), Controls{}, {}).folders ==
        std::vector<std::string>{"seed", "readonly"});
}

TEST_CASE("every ending has words of its own") {
  std::set<std::string> texts;
  for (const Ending ending : kAllEndings) {
    Decision decision = ended_as(ending);
    if (ending == Ending::Refused) decision = refused_without(Control::Memory);
    const Result result = make_result(exec_spec(), decision, Controls{}, {});
    CHECK_FALSE(result.text.empty());
    CHECK(texts.insert(result.text).second);
  }
}

TEST_CASE("the texts name the limit that was met") {
  CHECK(result_of(ended_as(Ending::TimeLimit), {}).text == "ran for 60.0 s, the limit");
  CHECK(result_of(ended_as(Ending::MemoryLimit), {}).text == "used 256 MiB of memory, the limit");
  CHECK(result_of(ended_as(Ending::OutputLimit), {}).text == "wrote more than 4096 MiB, the limit");
  CHECK(result_of(failed_at(Step::MakeRoot, ENOSPC), {}).text == "MakeRoot failed: No space left on device");
}

TEST_CASE("our own failure's text tells the peer no host path") {
  const Failure inner{"make directory", EACCES, "/sys/fs/cgroup/memory/mayfly-abc"};
  const Result result = result_of(failed_by(inner), {});
  CHECK(result.text.find("/sys") == std::string::npos);
  CHECK(result.failed_errno == EACCES);
}

TEST_CASE("limits that were met without ending the jail are listed") {
  Findings findings;
  findings.process_hits = 2;
  findings.disk_full = true;
  findings.inodes_used = true;
  findings.out.truncated = 1;
  const Result result = result_of(from_wait_status(exited(0)), findings);
  CHECK(result.ending == Ending::Exited);
  CHECK(result.limits_reached ==
        std::vector{LimitReached::Processes, LimitReached::Disk, LimitReached::Inodes, LimitReached::Output});
}

TEST_CASE("a tail comes only with a stream that was cut, and never longer than the relay may say") {
  Findings findings;
  findings.out.bytes = 10;
  findings.out.tail_length = 3;
  CHECK_FALSE(result_of(from_wait_status(0), findings).out.tail);
  findings.out.truncated = 1;
  findings.out.tail[0] = 'a';
  findings.out.tail[1] = 'b';
  findings.out.tail[2] = 'c';
  CHECK(result_of(from_wait_status(0), findings).out.tail == "abc");
  findings.out.tail_length = 1'000'000;
  CHECK(result_of(from_wait_status(0), findings).out.tail->size() == findings.out.tail.size());
}

TEST_CASE("a run that never started says so in every metric") {
  const Result result = unstarted_result(exec_spec(), ended_as(Ending::Cancelled), 12_ms);
  CHECK(result.ending == Ending::Cancelled);
  CHECK(result.metrics.queued == 12_ms);
  CHECK_FALSE(result.metrics.cpu.value);
  CHECK(result.metrics.cpu.why == "it never started");
  CHECK(result.out.sha256[0] == 0xe3);
}
