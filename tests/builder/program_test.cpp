// What a program gets: its words, streams, files, environment, and its end told to the supervisor.
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <span>

#include "jail/os/unix_socket.h"
#include "tests/builder/bench.h"

using namespace mayfly;
using namespace mayfly::bench;

namespace {

Bench start_bench() {
  auto started = Bench::start({});
  if (!started) FAIL(started.error().text());
  return std::move(*started);
}

Outcome run_in(Bench& bench, const Job& job, const std::string& input = {}) {
  Built jail = bench.build(job);
  if (jail.failed) FAIL("step " << name(static_cast<Step>(jail.failed->step)) << " errno " << jail.failed->error);
  return bench.run(jail, input);
}

Outcome shell(Bench& bench, const std::string& script) { return run_in(bench, job_for({"/bin/sh", "-c", script})); }

}  // namespace

TEST_CASE("what a program writes arrives apart by stream, and its status is told", "[P31][root]") {
  Bench bench = start_bench();
  const Outcome outcome = shell(bench, "echo hello; echo oops >&2; exit 7");
  CHECK(outcome.out == "hello\n");
  CHECK(outcome.err == "oops\n");
  REQUIRE(outcome.ended);
  CHECK(WEXITSTATUS(outcome.ended->wait_status) == 7);
}

TEST_CASE("standard input arrives whole and ends", "[P32][root]") {
  Bench bench = start_bench();
  const Outcome outcome = run_in(bench, job_for({"cat"}), std::string("a\0b\xff", 4));
  CHECK(outcome.out == std::string("a\0b\xff", 4));
}

TEST_CASE("a program that dies of a signal is told apart from one that exits", "[P31][root]") {
  Bench bench = start_bench();
  const Outcome outcome = shell(bench, "kill -SEGV $$");
  REQUIRE(outcome.ended);
  CHECK(WIFSIGNALED(outcome.ended->wait_status));
  CHECK(WTERMSIG(outcome.ended->wait_status) == SIGSEGV);
}

TEST_CASE("a terminal is the controlling one, with the size that was ordered", "[root]") {
  Bench bench = start_bench();
  Job job = job_for({"/bin/sh", "-c", "stty size; tty; echo x > /dev/tty; test -O /dev/pts/0 && echo mine"});
  job.plan.terminal = 1;
  job.plan.columns = 101;
  job.plan.rows = 37;
  Built jail = bench.build(job);
  REQUIRE(jail.at_gate);
  REQUIRE(jail.outer.size() == 1);
  const Outcome outcome = bench.run(jail);
  CHECK(outcome.out == "37 101\r\n/dev/pts/0\r\nx\r\nmine\r\n");
}

TEST_CASE("files of the request lie in the home directory, owned by the program", "[root]") {
  Bench bench = start_bench();
  Job job =
      job_for({"/bin/sh", "-c", "pwd; cat data.txt; stat -c '%a %U %s' data.txt deep/er/run.sh; ./deep/er/run.sh"});
  add_file(job, "data.txt", "one\ntwo\n", false);
  add_file(job, "deep/er/run.sh", "#!/bin/sh\necho ran\n", true);
  const Outcome outcome = run_in(bench, job);
  CHECK(outcome.out == "/home/run\none\ntwo\n644 run 8\n755 run 19\nran\n");
  CHECK(outcome.err.empty());
}

TEST_CASE("a long argument comes from the payload", "[root]") {
  Bench bench = start_bench();
  Job job = job_for({"printf", "%s"});
  const std::string text(100'000, 'x');
  add_payload_argument(job, text);
  CHECK(run_in(bench, job).out == text);
}

TEST_CASE("an argument with a NUL is refused, not cut", "[root]") {
  Bench bench = start_bench();
  Job job = job_for({"printf", "%s"});
  add_payload_argument(job, std::string("a\0b", 3));
  const Built jail = bench.build(job);
  REQUIRE(jail.failed);
  CHECK(jail.failed->error == EILSEQ);
}

TEST_CASE("the environment is exactly what was ordered, and its hash is told", "[P04][root]") {
  Bench bench = start_bench();
  const std::string entry = "ONLY=this";
  Built jail = bench.build(job_for({"/usr/bin/env"}, {entry}));
  REQUIRE(jail.at_gate);
  CHECK(jail.at_gate->environment_count == 1);
  CHECK(jail.at_gate->environment_hash == fnv1a(kFnvOffset, entry.c_str(), entry.size() + 1));
  CHECK(bench.run(jail).out == "ONLY=this\n");
}

TEST_CASE("why a program cannot be executed is told, and the jail ends", "[root]") {
  Bench bench = start_bench();
  const auto failure_of = [&bench](const std::string& word) {
    Job job = job_for({word});
    add_file(job, "no-interpreter", "echo\n", true);
    add_file(job, "not-executable", "#!/bin/sh\n", false);
    Built jail = bench.build(job);
    REQUIRE(jail.at_gate);
    bench.open_gate(jail);
    const auto message = bench.next_from_gate(jail);
    REQUIRE(message);
    CHECK(message->says == GateSays::StepFailed);
    CHECK(static_cast<Step>(message->step) == Step::Execute);
    bench.destroy(jail);
    return message->error;
  };
  CHECK(failure_of("no-such-program") == ENOENT);
  CHECK(failure_of("/no/such/program") == ENOENT);
  CHECK(failure_of("/home/run/no-interpreter") == ENOEXEC);
  CHECK(failure_of("/home/run/not-executable") == EACCES);
  CHECK(failure_of("/usr") == EACCES);
}

TEST_CASE("a program starts with default signals, umask, scheduling and standard descriptors only", "[root]") {
  Bench bench = start_bench();
  const Outcome outcome =
      shell(bench, "cat /proc/self/status; umask; nice; readlink /proc/self/fd/3 || echo no fourth");
  for (const char* set : {"ShdPnd", "SigBlk", "SigIgn", "SigCgt"})
    CHECK_THAT(outcome.out, Catch::Contains(std::string(set) + ":\t0000000000000000\n"));
  CHECK_THAT(outcome.out, Catch::EndsWith("\n0022\n0\nno fourth\n"));
}

TEST_CASE("a writer whose reader is gone dies of SIGPIPE", "[root]") {
  Bench bench = start_bench();
  CHECK(shell(bench, "yes | head -1").out == "y\n");
}

TEST_CASE("signals of the supervisor reach the program's group", "[root]") {
  Bench bench = start_bench();
  Built jail = bench.build(job_for({"/bin/sh", "-c", "trap 'echo caught; exit 3' TERM; echo ready; sleep 20 & wait"}));
  REQUIRE(jail.at_gate);
  bench.open_gate(jail);
  char ready[6] = {};
  REQUIRE(::read(jail.outer[1].get(), ready, 6) == 6);
  const GateCommand order{GateOrder::Signal, SIGTERM};
  REQUIRE(send_message(jail.gate.get(), std::as_bytes(std::span(&order, 1)), {}));
  const auto ended = bench.next_from_gate(jail);
  REQUIRE(ended);
  CHECK(ended->says == GateSays::Ended);
  CHECK(WEXITSTATUS(ended->wait_status) == 3);
  bench.destroy(jail);
}

TEST_CASE("output may be opened anew by name", "[root]") {
  Bench bench = start_bench();
  const Outcome outcome = shell(bench, "echo a > /dev/stdout; echo b > /dev/stderr; cat < /dev/stdin");
  CHECK(outcome.out == "a\n");
  CHECK(outcome.err == "b\n");
}
