// Thin names over the mount calls of Linux 5.2 and later (fsopen(2), fsmount(2), open_tree(2), move_mount(2)). Both
// sides of the clone; no allocation. Each returns what the kernel returned; errno says why.
#pragma once

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>

#include "jail/os/fd.h"

namespace mayfly {

inline int set_option(int context, const char* key, const char* value) {
  return ::fsconfig(context, FSCONFIG_SET_STRING, key, value, 0);
}

inline int set_option(int context, const char* key, std::uint64_t value) {
  char text[24];
  const auto end = std::to_chars(text, text + sizeof text - 1, value).ptr;
  *end = '\0';
  return set_option(context, key, text);
}

// A detached mount of a configured context, or -1.
inline Fd finish_mount(int context, unsigned attributes) {
  if (::fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return Fd();
  return Fd(::fsmount(context, FSMOUNT_CLOEXEC, attributes));
}

inline int attach(int tree, int directory, const char* path) {
  return ::move_mount(tree, "", directory, path, MOVE_MOUNT_F_EMPTY_PATH);
}

inline int set_attributes(int tree, unsigned attributes, unsigned flags) {
  mount_attr attr{};
  attr.attr_set = attributes;
  return ::mount_setattr(tree, "", AT_EMPTY_PATH | flags, &attr, sizeof attr);
}

inline int change_root(const char* new_root, const char* old_root) {
  return static_cast<int>(::syscall(SYS_pivot_root, new_root, old_root));
}

}  // namespace mayfly
