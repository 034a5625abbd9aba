// Units: numbers that cannot be mixed up at a call.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace mayfly {

using Milliseconds = std::chrono::duration<std::int64_t, std::milli>;
using Microseconds = std::chrono::duration<std::int64_t, std::micro>;

// A count of bytes.
struct Bytes {
  std::uint64_t count = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm of clang-tidy 14 about every defaulted <=>
  friend constexpr auto operator<=>(const Bytes&, const Bytes&) = default;
};

// Processor share in thousandths: 1000 is one whole processor.
struct MilliCpus {
  std::uint32_t count = 0;
  // NOLINTNEXTLINE(modernize-use-nullptr): a false alarm of clang-tidy 14 about every defaulted <=>
  friend constexpr auto operator<=>(const MilliCpus&, const MilliCpus&) = default;
};

namespace literals {
constexpr Bytes operator""_bytes(unsigned long long n) { return Bytes{n}; }
constexpr Bytes operator""_kib(unsigned long long n) { return Bytes{n << 10}; }
constexpr Bytes operator""_mib(unsigned long long n) { return Bytes{n << 20}; }
constexpr Bytes operator""_gib(unsigned long long n) { return Bytes{n << 30}; }
constexpr Milliseconds operator""_ms(unsigned long long n) { return Milliseconds{static_cast<std::int64_t>(n)}; }
constexpr Milliseconds operator""_s(unsigned long long n) { return Milliseconds{static_cast<std::int64_t>(n * 1000)}; }
constexpr Milliseconds operator""_min(unsigned long long n) {
  return Milliseconds{static_cast<std::int64_t>(n * 60'000)};
}
}  // namespace literals

}  // namespace mayfly
