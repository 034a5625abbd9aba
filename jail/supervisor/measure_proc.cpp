#include "jail/supervisor/measure_proc.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

namespace mayfly {
namespace {

// "net:[4026531840]"
std::uint64_t inode_in(std::string_view link) {
  const std::size_t open = link.find('[');
  std::uint64_t inode = 0;
  if (open != std::string_view::npos) std::from_chars(link.data() + open + 1, link.data() + link.size(), inode);
  return inode;
}

Expected<Fd> open_directory(const char* path) {
  Fd directory{::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC)};
  if (!directory) return failure("look at the program at the gate", errno, path);
  return directory;
}

}  // namespace

const char* namespace_name(std::size_t index) { return kNamespaceLinks[index] + 3; }

Expected<ProcDirectory> ProcDirectory::open(pid_t pid, std::span<char> buffer) {
  char path[32] = "/proc/";
  *std::to_chars(path + 6, path + sizeof path - 1, pid).ptr = '\0';
  return ProcDirectory(TRY(open_directory(path)), buffer);
}

Expected<ProcDirectory> ProcDirectory::open_self(std::span<char> buffer) {
  return ProcDirectory(TRY(open_directory("/proc/self")), buffer);
}

Expected<std::string_view> ProcDirectory::read(const char* name) {
  const Fd file{::openat(directory_.get(), name, O_RDONLY | O_CLOEXEC)};
  if (!file) return failure("open the program's proc file", errno, name);
  std::size_t filled = 0;
  // Seq files hand out about a page at a time, whatever is asked for.
  while (filled < buffer_.size()) {
    const ssize_t count = ::read(file.get(), buffer_.data() + filled, buffer_.size() - filled);
    if (count < 0) return failure("read the program's proc file", errno, name);
    if (count == 0) return std::string_view(buffer_.data(), filled);
    filled += static_cast<std::size_t>(count);
  }
  return failure("read the whole of the program's proc file", EFBIG, name);
}

Expected<NamespaceIds> ProcDirectory::namespaces() const {
  NamespaceIds ids{};
  for (std::size_t i = 0; i < kNamespaceCount; ++i) {
    char link[64];
    const ssize_t length = ::readlinkat(directory_.get(), kNamespaceLinks[i], link, sizeof link);
    if (length < 0) return failure("see the program's namespace", errno, kNamespaceLinks[i]);
    ids[i] = inode_in({link, static_cast<std::size_t>(length)});
    if (ids[i] == 0) return failure("see the program's namespace", 0, kNamespaceLinks[i], "the link has another form");
  }
  return ids;
}

}  // namespace mayfly
