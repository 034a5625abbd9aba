#include "jail/builder/outside/id_maps.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

#include "jail/builder/outside/write_text.h"
#include "jail/os/fd.h"
#include "jail/spec/limits.h"

namespace mayfly {

namespace {

class MapText {
 public:
  void add(std::uint32_t inside, std::uint32_t outside) {
    put(inside, ' ');
    put(outside, ' ');
    put(1, '\n');
  }
  // The kernel takes a map in one write(2) or not at all.
  [[nodiscard]] std::string_view text() const { return {text_.data(), size_}; }

 private:
  void put(std::uint32_t number, char after) {
    std::array<char, 12> word;
    char* end = std::to_chars(word.data(), word.data() + word.size() - 1, number).ptr;
    *end++ = after;
    const auto length = static_cast<std::size_t>(end - word.data());
    if (length > text_.size() - size_) return;  // cannot be: three rows at most
    std::memcpy(text_.data() + size_, word.data(), length);
    size_ += length;
  }
  std::array<char, 128> text_;
  std::size_t size_ = 0;
};

MapText map_for(const HostFacts& host, std::uint32_t slot, std::uint32_t caller) {
  MapText map;
  if (host.privilege == Privilege::Rootless) {
    map.add(kInsideRunUid, caller);
    return map;
  }
  const std::uint32_t first = host.uid_base + kUidsPerSlot * slot;
  if (host.faults.leaves_out(Layer::IdMap)) map.add(1, first);
  map.add(kInsideInitUid, first + 1);
  map.add(kInsideRunUid, first + 2);
  return map;
}

// proc(5): on a host without memory the kernel ends jails before it ends anything of ours.
int be_first_to_die(const HostFacts& host, int directory) {
  char text[8];
  const char* const end = std::to_chars(text, text + sizeof text, host.oom_score_adj).ptr;
  return write_text(directory, "oom_score_adj", {text, static_cast<std::size_t>(end - text)});
}

}  // namespace

int write_id_maps(const HostFacts& host, int host_proc, pid_t child, std::uint32_t slot) {
  char path[16];
  *std::to_chars(path, path + sizeof path - 1, child).ptr = '\0';
  const Fd directory(::openat(host_proc, path, O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return errno;
  if (const int error = be_first_to_die(host, directory.get()); error != 0) return error;
  const MapText users = map_for(host, slot, host.caller_uid), groups = map_for(host, slot, host.caller_gid);
  if (const int error = write_text(directory.get(), "uid_map", users.text()); error != 0) return error;
  return write_text(directory.get(), "gid_map", groups.text());
}

}  // namespace mayfly
