// What Landlock lets a jail's program do with files (landlock(7)), by the ABI of the kernel. Both sides of the clone:
// the rules of what is there before the jail is are made outside, /proc's inside.
#pragma once

#include <linux/landlock.h>

#include <cstdint>

namespace mayfly {

namespace landlock {

// Where the build host's headers are older than the kernel.
inline constexpr std::uint64_t kTruncate = 1ull << 14;     // ABI 3
inline constexpr std::uint64_t kDeviceIoctl = 1ull << 15;  // ABI 5

inline constexpr std::uint64_t kList = LANDLOCK_ACCESS_FS_READ_DIR;
inline constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | kList;
inline constexpr std::uint64_t kRun = kRead | LANDLOCK_ACCESS_FS_EXECUTE;
inline constexpr std::uint64_t kMakeNodes = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;
inline constexpr std::uint64_t kOwn =  // everything but device nodes
    kRun | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
    LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER | kTruncate;
inline constexpr std::uint64_t kDevices = kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kDeviceIoctl;

// What the probed ABI knows. Network rights (ABI 4) are not handled: the only network is lo, which programs may use.
// Scopes (ABI 6) are not set: signals and abstract sockets end at the pid and network namespaces of the jail anyway.
constexpr std::uint64_t handled_rights(std::uint32_t abi) {
  std::uint64_t rights = kOwn | kMakeNodes | kDeviceIoctl;
  if (abi < 2) rights &= ~std::uint64_t{LANDLOCK_ACCESS_FS_REFER};
  if (abi < 3) rights &= ~kTruncate;
  if (abi < 5) rights &= ~kDeviceIoctl;
  return rights;
}

// 0, or -1 and errno. `parent` may be an O_PATH descriptor or a detached mount.
int allow(int ruleset, std::uint32_t abi, int parent, std::uint64_t rights);

}  // namespace landlock

}  // namespace mayfly
