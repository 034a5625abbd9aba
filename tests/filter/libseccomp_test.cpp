// libseccomp as a second opinion: the same unconditional rows, compiled by it, must answer as ours do. (Our rows with
// conditions are ordered chains, which libseccomp cannot say; row_oracle.h judges those.)
#include <seccomp.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <map>

#include "jail/builder/filter/jail_filter.h"
#include "jail/os/fd.h"
#include "jail/os/memfd.h"
#include "tests/filter/row_oracle.h"

using namespace mayfly;
using mayfly::test::BpfInterpreter;

namespace {

std::vector<SyscallRow> rows_without_chains(const test::Table& table) {
  std::map<std::uint32_t, int> uses;
  for (const SyscallRow& row : table.rows) ++uses[row.number];
  std::vector<SyscallRow> rows;
  for (const SyscallRow& row : table.rows) {
    if (uses[row.number] == 1 && test::action_of(row.verdict, 0) != test::action_of(table.otherwise, 0))
      rows.push_back(row);
  }
  return rows;
}

// One word of classic BPF is 8 bytes; libseccomp writes the program as it is.
std::vector<sock_filter> by_libseccomp(std::uint32_t otherwise, const std::vector<SyscallRow>& rows) {
  scmp_filter_ctx context = seccomp_init(otherwise);
  REQUIRE(context != nullptr);
  CHECK(seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0);
  CHECK(seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2) == 0);
  for (const SyscallRow& row : rows) {
    INFO(row.name);
    CHECK(seccomp_rule_add(context, test::action_of(row.verdict, 0), static_cast<int>(row.number), 0) == 0);
  }
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const Fd from(ends[0]);
  Fd to(ends[1]);
  CHECK(seccomp_export_bpf(context, to.get()) == 0);
  seccomp_release(context);
  to.reset();
  std::vector<sock_filter> program(BPF_MAXINSNS);
  const ssize_t count = ::read(from.get(), program.data(), program.size() * sizeof(sock_filter));
  REQUIRE(count > 0);
  program.resize(static_cast<std::size_t>(count) / sizeof(sock_filter));
  return program;
}

}  // namespace

TEST_CASE("libseccomp makes the same of the rows that it can say", "[P11]") {
  const test::Table table =
      test::table_of(Verdict::Absent, filter::kBuilderRows, filter::kDeniedRows, filter::kAllowedRows);
  const std::vector<SyscallRow> rows = rows_without_chains(table);
  CHECK(rows.size() > 300);
  const std::vector<sock_filter> theirs = by_libseccomp(SCMP_ACT_ERRNO(ENOSYS), rows);
  const std::array parts = {SyscallRows(rows)};
  const std::vector<sock_filter> ours = compile_filter(Verdict::Absent, parts, 0).value();
  const BpfInterpreter first(theirs), second(ours);
  for (std::uint32_t number = 0; number <= 600; ++number) {
    INFO(number);
    CHECK(first.action({number, {}}) == second.action({number, {}}));
  }
  CHECK(first.action({3, {}, AUDIT_ARCH_I386}) == second.action({3, {}, AUDIT_ARCH_I386}));
  CHECK(ours.size() < theirs.size() / 2);
}
