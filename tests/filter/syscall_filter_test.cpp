#include "jail/os/syscall_filter.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <random>

#include "jail/builder/filter/jail_filter.h"
#include "tests/filter/row_oracle.h"

using namespace mayfly;

namespace {

std::string refusal(std::vector<SyscallRow> rows) {
  const std::array parts = {SyscallRows(rows)};
  const auto compiled = compile_filter(Verdict::Deny, parts, 0);
  return compiled ? "" : compiled.error().why;
}

// What a child that has loaded `filter` gets from `call`: its errno, 0, or -signal.
int errno_under(const std::vector<sock_filter>& filter, long number, long first = 0, long second = 0, long third = 0) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (load_filter(filter) != 0) _exit(255);
    const long result = syscall(number, first, second, third);
    // Small numbers only: the build id does not fit an exit status.
    const int status = result < 0 ? (errno == kFilterBuildErrno ? 254 : errno) : 0;
    // The bare call: a sanitizer's _exit() makes calls of its own first, which these filters rightly refuse.
    syscall(__NR_exit_group, status);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("a table with a hole does not compile", "[P10]") {
  CHECK(refusal({{1, "write", Verdict::Allow, kAlways, ""}}) == "row without a reason");
  CHECK(refusal({{1, "write", Verdict::Allow, kAlways, "x"}, {1, "write", Verdict::Deny, kAlways, "x"}}) ==
        "row that can never be reached");
  CHECK(refusal({{1, "write", Verdict::Allow, one_of(0, {1}), "x"}}) == "no row says what else happens");
  CHECK(refusal({{kX32Bit + 1, "x32", Verdict::Allow, kAlways, "x"}}) == "number of x32");
  CHECK(refusal({{1, "write", Verdict::Allow, one_of(0, {}), "x"}}) == "condition without a value");
  CHECK(refusal({{1, "write", Verdict::Allow, one_of(6, {1}), "x"}}) == "no such argument");
}

TEST_CASE("tables of any shape compile to what their rows say", "[P11]") {
  std::mt19937 engine(20);  // fixed seed: a failure is the same tomorrow
  const auto random = [&engine](std::uint32_t below) { return static_cast<std::uint32_t>(engine()) % below; };
  for (int round = 0; round < 200; ++round) {
    test::Table table{round % 2 == 0 ? Verdict::Allow : Verdict::Deny, {}};
    const std::uint32_t step = 1 + random(5);
    for (std::uint32_t number = random(3); number < 700; number += 1 + random(step)) {
      const auto verdict = static_cast<Verdict>(random(7));
      if (random(4) == 0) table.rows.push_back({number, "n", Verdict::Absent, one_of(1, {3, 9, 27}, 0xff), "r"});
      if (random(4) == 0) table.rows.push_back({number, "n", Verdict::Invalid, any_bit(0, 0x8000'0010), "r"});
      if (random(4) == 0) table.rows.push_back({number, "n", Verdict::NoFamily, none_of(2, {0, 5}), "r"});
      table.rows.push_back({number, "n", verdict, kAlways, "r"});
    }
    const std::array parts = {SyscallRows(table.rows)};
    const auto program = compile_filter(table.otherwise, parts, 3000);
    REQUIRE(program);
    const test::BpfInterpreter kernel(*program);
    std::size_t wrong = 0;
    for (std::uint32_t number = 0; number < 720; ++number) {
      for (int i = 0; i < 12; ++i) {
        test::Call call{number, {random(2) * 16ull, random(32), random(7)}};
        if (kernel.action(call) != table.expected(call, 3000)) ++wrong;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("the kernel takes the filters and answers as the interpreter does", "[P11]") {
  const JailFilters filters = compile_jail_filters().value();
  CHECK(errno_under(filters.program, kReservedCall) == 254);
  CHECK(errno_under(filters.init, kReservedCall) == 254);
  CHECK(errno_under(filters.program, __NR_getpid) == 0);
  CHECK(errno_under(filters.program, __NR_socket, 16 /* netlink */, 3, 0) == EAFNOSUPPORT);
  CHECK(errno_under(filters.program, __NR_socket, 1, 1, 0) == 0);
  CHECK(errno_under(filters.program, __NR_keyctl) == ENOSYS);
  CHECK(errno_under(filters.program, __NR_unshare, 0) == EPERM);
  CHECK(errno_under(filters.program, 471) == ENOSYS);
  CHECK(errno_under(filters.program, kX32Bit + 39) == -SIGSYS);
  CHECK(errno_under(filters.builder, __NR_ptrace, 0) == EPERM);
  CHECK(errno_under(filters.init, __NR_socket, 1, 1, 0) == EPERM);
}
