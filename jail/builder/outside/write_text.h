// Writes a short text to a file of a kernel file system in one write(2): 0 or an errno. No allocation.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "jail/os/fd.h"

namespace mayfly {

inline int write_text(int directory, const char* path, std::string_view text) {
  const Fd file(::openat(directory, path, O_WRONLY | O_CLOEXEC));
  if (!file) return errno;
  return ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : errno;
}

}  // namespace mayfly
