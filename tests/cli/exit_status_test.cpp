#include "jail/cli/exit_status.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>

using namespace mayfly;

namespace {

Result ended(Ending ending) {
  Result result;
  result.ending = ending;
  return result;
}

}  // namespace

TEST_CASE("every exit code of the program is the exit status, 0 to 255") {
  for (int code = 0; code < 256; ++code) {
    Result result = ended(Ending::Exited);
    result.exit_code = code;
    CHECK(exit_status(result) == code);
  }
}

TEST_CASE("a signal of the program's own is 128 and its number") {
  for (const int number : {SIGHUP, SIGINT, SIGKILL, SIGSEGV, SIGTERM, 64}) {
    Result result = ended(Ending::Signalled);
    result.signal_number = number;
    CHECK(exit_status(result) == 128 + number);
  }
}

TEST_CASE("a status that is missing is a failure, never 0") {
  CHECK(exit_status(ended(Ending::Exited)) == 125);
  CHECK(exit_status(ended(Ending::Signalled)) == 125);
}

TEST_CASE("limits and everything that is not the program's doing have statuses of their own") {
  CHECK(exit_status(ended(Ending::TimeLimit)) == 124);
  CHECK(exit_status(ended(Ending::CpuLimit)) == 124);
  CHECK(exit_status(ended(Ending::IdleLimit)) == 124);
  CHECK(exit_status(ended(Ending::MemoryLimit)) == 137);
  for (const Ending ending : {Ending::OutputLimit, Ending::Cancelled, Ending::Disconnected, Ending::Killed,
                              Ending::Shutdown, Ending::Refused, Ending::Failed, Ending::Lost})
    CHECK(exit_status(ended(ending)) == 125);
}

TEST_CASE("where bytes are missing no program has succeeded; a limit keeps its status") {
  Result result = ended(Ending::Exited);
  result.exit_code = 0;
  CHECK(exit_status(result) == 0);
  result.output_incomplete = true;
  CHECK(exit_status(result) == 125);
  result = ended(Ending::Signalled);
  result.signal_number = 15;
  result.output_incomplete = true;
  CHECK(exit_status(result) == 125);
  result = ended(Ending::TimeLimit);
  result.output_incomplete = true;
  CHECK(exit_status(result) == 124);
}

TEST_CASE("a program that is not there is 127 and one that cannot be executed 126, as in a shell") {
  Result result = ended(Ending::Failed);
  result.failed_step = Step::Execute;
  result.failed_errno = ENOENT;
  CHECK(exit_status(result) == 127);
  result.failed_errno = EACCES;
  CHECK(exit_status(result) == 126);
  result.failed_errno = ENOEXEC;
  CHECK(exit_status(result) == 126);
  result.failed_step = Step::MakeRoot;
  result.failed_errno = ENOENT;
  CHECK(exit_status(result) == 125);
}
