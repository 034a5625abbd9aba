// What a table of rows says about one call, read straight from the rows: the compiler's output is held against it.
#pragma once

#include <cerrno>
#include <set>
#include <vector>

#include "jail/os/syscall_filter.h"
#include "tests/filter/bpf_interpreter.h"

namespace mayfly::test {

inline bool matches(const Condition& when, const Call& call) {
  const std::uint32_t seen = static_cast<std::uint32_t>(call.arguments[when.argument]) & when.mask;
  bool found = false;
  for (std::uint8_t i = 0; i < when.count; ++i) found = found || when.values[i] == seen;
  switch (when.test) {
    case Condition::Test::Always:
      return true;
    case Condition::Test::OneOf:
      return found;
    case Condition::Test::NoneOf:
      return !found;
    case Condition::Test::AnyBit:
      return seen != 0;
  }
  return false;
}

inline std::uint32_t action_of(Verdict verdict, std::uint16_t build_id) {
  switch (verdict) {
    case Verdict::Allow:
      return SECCOMP_RET_ALLOW;
    case Verdict::Deny:
      return SECCOMP_RET_ERRNO | EPERM;
    case Verdict::Absent:
      return SECCOMP_RET_ERRNO | ENOSYS;
    case Verdict::NoFamily:
      return SECCOMP_RET_ERRNO | EAFNOSUPPORT;
    case Verdict::NoProtocol:
      return SECCOMP_RET_ERRNO | EPROTONOSUPPORT;
    case Verdict::Invalid:
      return SECCOMP_RET_ERRNO | EINVAL;
    case Verdict::TellBuildId:
      return SECCOMP_RET_ERRNO | build_id;
    case Verdict::Kill:
      break;
  }
  return SECCOMP_RET_KILL_PROCESS;
}

struct Table {
  Verdict otherwise;
  std::vector<SyscallRow> rows;

  [[nodiscard]] std::uint32_t expected(const Call& call, std::uint16_t build_id) const {
    if (call.architecture != AUDIT_ARCH_X86_64 || call.number >= kX32Bit) return SECCOMP_RET_KILL_PROCESS;
    for (const SyscallRow& row : rows) {
      if (row.number == call.number && matches(row.when, call)) return action_of(row.verdict, build_id);
    }
    return action_of(otherwise, build_id);
  }

  // Values worth trying in every argument of a call: what its rows name, their neighbours, each bit, and upper halves.
  [[nodiscard]] std::set<std::uint64_t> values_of_interest(std::uint32_t number) const {
    std::set<std::uint64_t> values = {0, 1, 0xffff'ffffu, 0x1'0000'0000u};
    for (const SyscallRow& row : rows) {
      if (row.number != number || row.when.test == Condition::Test::Always) continue;
      for (int bit = 0; bit < 64; ++bit) values.insert(1ull << bit);
      for (std::uint8_t i = 0; i < row.when.count; ++i) {
        const std::uint64_t named = row.when.values[i];
        values.insert({named, named + 1, named - 1, named | 0xffff'ffff'0000'0000u, named | ~row.when.mask});
      }
    }
    return values;
  }
};

template <typename... Parts>
Table table_of(Verdict otherwise, const Parts&... parts) {
  Table table{otherwise, {}};
  (table.rows.insert(table.rows.end(), std::begin(parts), std::end(parts)), ...);
  return table;
}

}  // namespace mayfly::test
