// The lines of /proc/<pid>/mountinfo, proc_pid_mountinfo(5). A parser of kernel text that foreign names are in
// (a mount point may hold any byte; space, tab, newline and backslash come as \040 and so on).
#pragma once

#include <string>
#include <string_view>

namespace mayfly {

// Views into the text that was parsed. Escapes are still in there.
struct MountLine {
  std::string_view root;  // of the mount within its file system
  std::string_view mount_point;
  std::string_view options;  // of this mount: "ro,nosuid,nodev"
  std::string_view type;     // "tmpfs"
  std::string_view source;
  std::string_view super_options;  // of the file system: "rw,memory"
};

// Takes one line from the front of `text`; false at the end or at a line that is not of the form (the caller knows
// which by text.empty()).
bool next_mount(std::string_view& text, MountLine& line);

// Whether the comma-separated `list` has `word`.
bool has_word(std::string_view list, std::string_view word);

std::string unescape_mount(std::string_view escaped);

}  // namespace mayfly
