// /proc/<pid> of the program at the gate: one directory, and one buffer for all of its files.
#pragma once

#include <sys/types.h>

#include <span>
#include <string_view>

#include "jail/expected.h"
#include "jail/os/fd.h"
#include "jail/supervisor/measure.h"

namespace mayfly {

class ProcDirectory {
 public:
  static constexpr std::size_t kBuffer = 64 * 1024;  // some 400 mounts

  // `buffer` is the caller's, and outlives this.
  static Expected<ProcDirectory> open(pid_t pid, std::span<char> buffer);
  static Expected<ProcDirectory> open_self(std::span<char> buffer);

  // The whole file. Valid until the next call. EFBIG when it does not fit.
  Expected<std::string_view> read(const char* name);
  // "ns/net" is a link "net:[4026531840]". EACCES where we may not look at the process.
  [[nodiscard]] Expected<NamespaceIds> namespaces() const;

 private:
  ProcDirectory(Fd directory, std::span<char> buffer) : directory_(std::move(directory)), buffer_(buffer) {}
  Fd directory_;
  std::span<char> buffer_;
};

const char* namespace_name(std::size_t index);  // "user", "mnt", ...

}  // namespace mayfly
