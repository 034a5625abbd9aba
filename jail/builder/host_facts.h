// HostFacts: what the builder found out about its host when it started, and what every jail of it is made of. Written
// by outside/ before the first order, read by both sides, never changed.
#pragma once

#include <linux/filter.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <array>
#include <cstdint>

#include "jail/builder/faults.h"
#include "jail/builder/filter/jail_filter.h"
#include "jail/wire/plan.h"

namespace mayfly {

// One directory (or file) at the top of a jail's root, with all that is mounted below it.
struct TopTree {
  char name[64] = {};
  bool is_directory = true;
  bool is_ours = false;      // /etc, /dev: not a bind of the host
  bool is_overlaid = false;  // a folder of a profile, seen through an overlay (tree_copy.h)
  unsigned attributes = 0;   // MOUNT_ATTR_*, of that overlay
  int source = -1;           // what each jail gets a copy of
};

// One row of the bind table, ready to be copied.
struct PreparedRow {
  static constexpr std::size_t kMostTrees = 18;
  int error = 0;  // not 0: a folder of the profile is missing, and its jails cannot be built
  std::uint32_t count = 0;
  std::array<TopTree, kMostTrees> trees{};
};

enum class MaskKind : std::uint8_t { File, Directory };

// A path below the builder's /jail/proc that is covered in every jail.
struct ProcMask {
  const char* path = nullptr;
  MaskKind kind = MaskKind::File;
};

// A symlink at the root: "bin" -> "usr/bin".
struct RootLink {
  const char* name = nullptr;
  const char* target = nullptr;
};

enum class Privilege : std::uint8_t { Root, Rootless };

struct HostFacts {
  static constexpr std::size_t kMostMasks = 32;
  static constexpr std::size_t kMostLinks = 8;
  static constexpr std::size_t kMostProcessors = 1024;

  Privilege privilege = Privilege::Root;
  Faults faults;
  uid_t caller_uid = 0;  // rootless: what 1000 maps to
  gid_t caller_gid = 0;
  std::uint32_t uid_base = 0;
  std::uint32_t landlock_abi = 0;
  bool proc_available = false;
  bool makes_ahead = false;  // parts, in idle time

  std::uint32_t row_count = 0;
  std::array<PreparedRow, 16> rows{};
  std::uint32_t mask_count = 0;
  std::array<ProcMask, kMostMasks> masks{};
  std::uint32_t link_count = 0;
  std::array<RootLink, kMostLinks> links{};

  std::array<std::uint64_t, kNamespaceCount> namespaces{};  // inode numbers of the builder's own (wire/plan.h)
  std::int32_t oom_score_adj = 0;                           // of every jail: above ours
  std::array<rlimit, RLIM_NLIMITS> limits{};                // the builder's own: never raised for a jail
  std::uint32_t processor_count = 0;
  std::array<std::uint16_t, kMostProcessors> processors{};  // those that we may run on

  char* command_line = nullptr;  // the memory behind /proc/<pid>/cmdline, overwritten in pid 1
  std::size_t command_line_size = 0;
  JailFilters filters;
};

// Where the parts lie in the builder's own root.
inline constexpr const char* kJailMount = "/jail";
inline constexpr const char* kEmptyDirectory = "/empty/directory";
inline constexpr const char* kEmptyFile = "/empty/file";

}  // namespace mayfly
