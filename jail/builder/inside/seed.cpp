#include "jail/builder/inside/seed.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string_view>

#include "jail/builder/inside/identity.h"
#include "jail/builder/root_paths.h"
#include "jail/os/fd.h"
#include "jail/wire/bind_table.h"

namespace mayfly {

namespace {

constexpr const char* kSeedMount = "/seed";
constexpr std::size_t kMostLevels = 8;
constexpr std::size_t kPiece = 1u << 30;  // of one sendfile(2)

// What getdents64(2) writes; libc's readdir would allocate.
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[1];
};

// Static, as nothing is allocated after the clone. One buffer of entries for each level.
struct Buffers {
  alignas(Entry) std::array<std::array<char, 4096>, kMostLevels> entries;
  std::array<char, PATH_MAX> link;
};

void copy_directory(Inside& in, int from, int to, std::size_t level, Buffers& buffers);

// What an editor keeps for itself, or renames while we look, does not keep a class out.
void leave_out(Inside& in) {
  constexpr std::array kHarmless = {EACCES, EPERM, ENOENT, ELOOP, ENOTDIR, ENXIO, EINVAL};
  if (std::find(kHarmless.begin(), kHarmless.end(), errno) == kHarmless.end()) in.fail(errno);
}

void copy_file(Inside& in, int from, int to, const char* name) {
  // Without O_NONBLOCK a FIFO that took the file's place would hold us up.
  const Fd source(::openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!source) return leave_out(in);
  struct stat status {};
  in.check(::fstat(source.get(), &status));
  if (!S_ISREG(status.st_mode)) return;
  const mode_t mode = (status.st_mode & 0111) != 0 ? 0755 : 0644;
  const Fd target(::openat(to, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, mode));
  in.check(target.get());
  for (;;) {
    const ssize_t count = ::sendfile(target.get(), source.get(), nullptr, kPiece);
    in.check(count);
    if (count == 0) return;
  }
}

void copy_link(Inside& in, int from, int to, const char* name, Buffers& buffers) {
  const ssize_t length = ::readlinkat(from, name, buffers.link.data(), buffers.link.size() - 1);
  if (length < 0) return leave_out(in);
  buffers.link[static_cast<std::size_t>(length)] = '\0';
  in.check(::symlinkat(buffers.link.data(), to, name));
}

void copy_folder(Inside& in, int from, int to, const char* name, std::size_t level, Buffers& buffers) {
  if (level == kMostLevels) in.fail(ELOOP);
  const Fd source(::openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!source) return leave_out(in);
  in.check(::mkdirat(to, name, 0755));
  const Fd target(::openat(to, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  in.check(target.get());
  copy_directory(in, source.get(), target.get(), level, buffers);
}

void copy_entry(Inside& in, int from, int to, const char* name, std::size_t level, Buffers& buffers) {
  struct stat status {};
  if (::fstatat(from, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return leave_out(in);
  if (S_ISREG(status.st_mode)) copy_file(in, from, to, name);
  if (S_ISLNK(status.st_mode)) copy_link(in, from, to, name, buffers);
  if (S_ISDIR(status.st_mode)) copy_folder(in, from, to, name, level + 1, buffers);
}

void copy_directory(Inside& in, int from, int to, std::size_t level, Buffers& buffers) {
  auto& entries = buffers.entries[level];
  for (;;) {
    const long filled = ::syscall(SYS_getdents64, from, entries.data(), entries.size());
    in.check(filled);
    if (filled == 0) return;
    for (long at = 0; at < filled;) {
      const auto* entry = reinterpret_cast<const Entry*>(entries.data() + at);
      at += entry->length;
      const std::string_view name(entry->name);
      if (name != "." && name != "..") copy_entry(in, from, to, entry->name, level, buffers);
    }
  }
}

}  // namespace

bool has_seed(const Inside& in) {
  for (std::uint32_t i = 0; i < in.row.count; ++i)
    if (std::string_view(in.row.trees[i].name) == kSeedTree) return true;
  return false;
}

void plant_seed(Inside& in) {
  static Buffers buffers;
  own_files_as_run(in);
  if (!in.leaves_out(Layer::Seed)) {
    const Fd home(::open(kHome, O_PATH | O_DIRECTORY | O_CLOEXEC));
    in.check(home.get());
    const Fd seed(::open(kSeedMount, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    in.check(seed.get());
    copy_directory(in, seed.get(), home.get(), 0, buffers);
    in.is_seeded = true;
  }
  own_files_as_init(in);
  in.check(::umount2(kSeedMount, MNT_DETACH));
  in.check(::rmdir(kSeedMount));
}

}  // namespace mayfly
