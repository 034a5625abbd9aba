#include "jail/builder/outside/id_maps.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "jail/os/fd.h"
#include "jail/spec/limits.h"

namespace mayfly {

namespace {

class MapText {
 public:
  void add(std::uint32_t inside, std::uint32_t outside) {
    number(inside);
    text_[size_++] = ' ';
    number(outside);
    text_[size_++] = ' ';
    text_[size_++] = '1';
    text_[size_++] = '\n';
  }
  // One write(2): the kernel takes a map whole or not at all.
  [[nodiscard]] int write_to(int directory, const char* name) const {
    const Fd file(::openat(directory, name, O_WRONLY | O_CLOEXEC));
    if (!file) return errno;
    return ::write(file.get(), text_, size_) == static_cast<ssize_t>(size_) ? 0 : errno;
  }

 private:
  void number(std::uint32_t value) {
    size_ = static_cast<std::size_t>(std::to_chars(text_ + size_, text_ + sizeof text_, value).ptr - text_);
  }
  char text_[128];
  std::size_t size_ = 0;
};

MapText map_for(const HostFacts& host, std::uint32_t slot, std::uint32_t caller) {
  MapText map;
  if (host.privilege == Privilege::Rootless) {
    map.add(kInsideRunUid, caller);
    return map;
  }
  const std::uint32_t first = host.uid_base + kUidsPerSlot * slot;
  map.add(kInsideInitUid, first + 1);
  map.add(kInsideRunUid, first + 2);
  return map;
}

}  // namespace

int write_id_maps(const HostFacts& host, int host_proc, pid_t child, std::uint32_t slot) {
  char path[16];
  *std::to_chars(path, path + sizeof path - 1, child).ptr = '\0';
  const Fd directory(::openat(host_proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return errno;
  if (const int error = map_for(host, slot, host.caller_uid).write_to(directory.get(), "uid_map"); error != 0)
    return error;
  return map_for(host, slot, host.caller_gid).write_to(directory.get(), "gid_map");
}

}  // namespace mayfly
