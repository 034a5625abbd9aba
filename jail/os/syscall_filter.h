// SyscallRow and compile_filter: one row per system call with the reason for its verdict, and the compiler that turns
// rows into a classic BPF program for seccomp(2).
//
// A filter is `otherwise` (the verdict for every call that no row names) and rows. Rows of one call form a chain that
// is judged in order, the first that matches decides; a chain ends with a row that has no condition. Arguments are
// compared as the kernel reads them: the low 32 bits only, under a mask, because the kernel ignores the upper half of
// an `int` and a program may set it. A foreign architecture (i386) and x32 numbers are killed by every filter.
//
// The program is a binary search over ranges of numbers with equal verdicts. It uses only instructions that the kernel
// can evaluate ahead (seccomp.c, seccomp_is_const_allow), so a call allowed without conditions costs nothing later;
// docs/decisions/0006-filters-are-compiled-from-rows.md has the figures. Fails with a Failure that names the row: a
// missing reason, a chain without an end, a row that can never be reached.
#pragma once

#include <linux/filter.h>
#include <sys/syscall.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "jail/expected.h"

namespace mayfly {

enum class Verdict : std::uint8_t {
  Allow,
  Deny,         // EPERM: the call exists and is not for this process
  Absent,       // ENOSYS: as on a kernel without it, so that libraries fall back
  NoFamily,     // EAFNOSUPPORT: socket families
  NoProtocol,   // EPROTONOSUPPORT
  Invalid,      // EINVAL
  Kill,         // SECCOMP_RET_KILL_PROCESS
  TellBuildId,  // errno = the build id handed to compile_filter: proves from inside that this filter is loaded
};

struct Condition {
  static constexpr std::size_t kMostValues = 6;
  enum class Test : std::uint8_t {
    Always,
    OneOf,   // (low32(argument) & mask) is one of the values
    NoneOf,  // ... is none of the values
    AnyBit,  // (low32(argument) & mask) != 0
  };
  Test test = Test::Always;
  std::uint8_t argument = 0;  // 0..5
  std::uint32_t mask = 0xffff'ffff;
  std::uint8_t count = 0;
  std::array<std::uint32_t, kMostValues> values{};
};

namespace detail {
consteval Condition condition(Condition::Test test, std::uint8_t argument, std::uint32_t mask,
                              std::initializer_list<std::uint32_t> values) {
  Condition made{test, argument, mask, 0, {}};
  for (const std::uint32_t value : values) made.values[made.count++] = value;
  return made;
}
}  // namespace detail

consteval Condition one_of(std::uint8_t argument, std::initializer_list<std::uint32_t> values,
                           std::uint32_t mask = 0xffff'ffff) {
  return detail::condition(Condition::Test::OneOf, argument, mask, values);
}
consteval Condition none_of(std::uint8_t argument, std::initializer_list<std::uint32_t> values,
                            std::uint32_t mask = 0xffff'ffff) {
  return detail::condition(Condition::Test::NoneOf, argument, mask, values);
}
consteval Condition any_bit(std::uint8_t argument, std::uint32_t mask) {
  return {Condition::Test::AnyBit, argument, mask, 0, {}};
}
inline constexpr Condition kAlways{};

struct SyscallRow {
  std::uint32_t number;
  std::string_view name;
  Verdict verdict;
  Condition when;
  std::string_view reason;
};

// Number and name of a call that the build host's headers know: {MAYFLY_CALL(read), Verdict::Allow, kAlways, "..."}.
#define MAYFLY_CALL(name) __NR_##name, #name

using SyscallRows = std::span<const SyscallRow>;

// First number of the x32 call table on x86-64 (x32 syscalls set bit 30).
inline constexpr std::uint32_t kX32Bit = 0x4000'0000;

Expected<std::vector<sock_filter>> compile_filter(Verdict otherwise, std::span<const SyscallRows> parts,
                                                  std::uint16_t build_id);

// seccomp(SECCOMP_SET_MODE_FILTER): needs no_new_privs or CAP_SYS_ADMIN. Returns 0 or an errno. Usable after the clone:
// one raw call, no allocation.
int load_filter(const sock_filter* instructions, unsigned short count);

}  // namespace mayfly
