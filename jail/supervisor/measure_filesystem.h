// Judging the mount table of a jail, as /proc/<pid>/mountinfo shows it from outside. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "jail/expected.h"

namespace mayfly {

struct FilesystemFacts {
  std::uint64_t disk_bytes = 0, inodes = 0;  // asked for
  bool proc_mounted = false;                 // inside says that it has mounted one
  std::uint32_t proc_masks = 0;              // mounts that cover parts of it
  bool has_data = false;                     // asked for: the profile's folder at /data
};

// Success: the root is a bounded tmpfs of its own, /usr and all else is read-only but what a jail may write to, every
// mount is nosuid, every mount outside /dev is nodev, and there is a private procfs exactly if proc_mounted,
// with every mask; /data exactly if it was asked for, an overlay; and nothing of a profile's seed but the copy.
// Failure: doing "measure control", subject "filesystem" or "proc", why = the first line that is not so.
Expected<void> judge_mounts(std::string_view mountinfo, const FilesystemFacts& facts);

}  // namespace mayfly
