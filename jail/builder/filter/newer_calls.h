// Numbers of x86-64 calls that are newer than the headers of the oldest system we build on. The kernel's
// arch/x86/entry/syscalls/syscall_64.tbl never renumbers.
#pragma once

#include <cstdint>

namespace mayfly::newer {

inline constexpr std::uint32_t kFchmodat2 = 452;       // Linux 6.6
inline constexpr std::uint32_t kMapShadowStack = 453;  // Linux 6.6
inline constexpr std::uint32_t kFutexWake = 454;       // Linux 6.7
inline constexpr std::uint32_t kFutexWait = 455;
inline constexpr std::uint32_t kFutexRequeue = 456;
inline constexpr std::uint32_t kStatmount = 457;  // Linux 6.8
inline constexpr std::uint32_t kListmount = 458;
inline constexpr std::uint32_t kLsmSetSelfAttr = 460;  // Linux 6.8
inline constexpr std::uint32_t kMseal = 462;           // Linux 6.10
inline constexpr std::uint32_t kOpenTreeAttr = 467;    // Linux 6.15
inline constexpr std::uint32_t kListNs = 470;          // Linux 6.19

}  // namespace mayfly::newer
