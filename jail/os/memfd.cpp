#include "jail/os/memfd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

namespace mayfly {

namespace {
constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
}  // namespace

Expected<Fd> make_sealed_memfd(const char* debug_name, std::string_view bytes) {
  Fd fd(::memfd_create(debug_name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return failure("make memory file", errno, debug_name);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(fd.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failure("write memory file", errno, debug_name);
    done += static_cast<std::size_t>(count);
  }
  if (::fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) return failure("seal memory file", errno, debug_name);
  return fd;
}

Expected<std::uint64_t> sealed_size(const Fd& fd, std::uint64_t most) {
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0) return failure("read seals", errno, "", "not a memory file");
  if ((seals & kSeals) != kSeals) return failure("read seals", 0, "", "the memory file can still be changed");
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return failure("read size of memory file", errno);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > most) return failure("read size of memory file", EFBIG, "", "at most " + std::to_string(most) + " bytes");
  return size;
}

Expected<std::string> read_whole(const Fd& fd, std::uint64_t most) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return failure("read size of memory file", errno);
  if (static_cast<std::uint64_t>(status.st_size) > most) return failure("read memory file", EFBIG);
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::pread(fd.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("read memory file", errno);
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace mayfly
