// BindTable: which host trees jails get, written by the keeper at start into a sealed memfd, read by the builder
// alone. A plan names a row by number, so that whoever controls a plan still cannot name a host path.
#pragma once

#include <array>
#include <cstdint>

namespace mayfly {

// Below a jail's root, in the row of a profile that names folders.
inline constexpr const char* kDataTree = "data";  // its `readonly`
inline constexpr const char* kSeedTree = "seed";  // its `seed`, until it is copied into the home directory

struct BindEntry {
  char source[256] = {};       // absolute host path
  char target[128] = {};       // below the jail's root, without a leading slash: "usr", "data"
  std::uint32_t optional = 0;  // absent source is not an error
};

struct BindRow {
  std::uint32_t count = 0;
  std::array<BindEntry, 16> entries{};
  std::uint32_t hide_count = 0;
  std::array<std::array<char, 256>, 16> hide{};  // paths below the jail's root to be over-mounted with an empty,
                                                 // unreadable file or directory (our own programs; usr/local)
};

struct BindTable {
  static constexpr std::uint32_t kMagic = 0x6d61'7902;
  std::uint32_t magic = kMagic;
  std::uint32_t rootless = 0;    // 1: no uid blocks, one shared uid
  std::uint32_t uid_base = 0;    // of this instance's block; slot n starts at uid_base + 4 * n
  std::uint32_t made_ahead = 1;  // parts may be made in idle time
  std::uint32_t row_count = 0;
  std::array<BindRow, 16> rows{};
};

}  // namespace mayfly
