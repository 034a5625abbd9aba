// The filter's build id: an errno that no kernel gives, derived from every row of the program's filter. A reserved call
// number answers it in a jail, which proves from inside that exactly this filter is loaded; a changed table changes it.
// Header only, so that the supervisor can compare GateMessage::filter_errno with it (both are of one release).
#pragma once

#include <cstdint>

#include "jail/builder/filter/allowed_rows.h"
#include "jail/builder/filter/builder_rows.h"
#include "jail/builder/filter/denied_rows.h"
#include "jail/os/syscall_filter.h"

namespace mayfly {

// Far above every real call number and below the x32 bit.
inline constexpr std::uint32_t kReservedCall = 0x4d41;

namespace filter {

inline constexpr std::array kProgramParts = {SyscallRows(kBuilderRows), SyscallRows(kDeniedRows),
                                             SyscallRows(kAllowedRows)};

constexpr std::uint32_t mix(std::uint32_t hash, std::uint32_t word) {
  for (int shift = 0; shift < 32; shift += 8) hash = (hash ^ ((word >> shift) & 0xff)) * 0x0100'0193u;
  return hash;
}

constexpr std::uint32_t hash_of(std::uint32_t hash, const SyscallRow& row) {
  hash = mix(hash, row.number);
  hash = mix(hash, static_cast<std::uint32_t>(row.verdict));
  hash = mix(hash, static_cast<std::uint32_t>(row.when.test) << 8 | row.when.argument);
  hash = mix(hash, row.when.mask);
  for (std::uint8_t i = 0; i < row.when.count; ++i) hash = mix(hash, row.when.values[i]);
  return hash;
}

constexpr std::uint32_t hash_of_program() {
  std::uint32_t hash = 0x811c'9dc5u;  // FNV-1a
  for (const SyscallRows& part : kProgramParts) {
    for (const SyscallRow& row : part) hash = hash_of(hash, row);
  }
  return hash;
}

// 1024..4095: above every errno, also the kernel's inner ones (512..531), and within what libc takes for an error.
inline constexpr std::uint16_t kBuildErrno = static_cast<std::uint16_t>(1024 + hash_of_program() % 3072);

}  // namespace filter

inline constexpr int kFilterBuildErrno = filter::kBuildErrno;

}  // namespace mayfly
