#include "jail/builder/inside/files.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "jail/builder/inside/identity.h"
#include "jail/builder/inside/seed.h"
#include "jail/builder/root_paths.h"
#include "jail/os/fd.h"

namespace mayfly {

namespace {

void make_folders(Inside& in, int home, const PlanFile& file) {
  char path[sizeof file.name];
  for (const char* slash = std::strchr(file.name, '/'); slash != nullptr; slash = std::strchr(slash + 1, '/')) {
    const auto length = static_cast<std::size_t>(slash - file.name);
    std::memcpy(path, file.name, length);
    path[length] = '\0';
    if (::mkdirat(home, path, 0755) != 0 && errno != EEXIST) in.fail(errno);
  }
}

void copy_bytes(Inside& in, int target, const PlanFile& file) {
  off_t offset = file.offset;
  std::size_t left = file.length;
  while (left > 0) {
    const ssize_t count = ::sendfile(target, in.payload, &offset, left);
    in.check(count);
    if (count == 0) in.fail(EIO);  // judged to be within a sealed file
    left -= static_cast<std::size_t>(count);
  }
}

// A file of the seed gives way to one of the request.
void make_place(Inside& in, int home, const PlanFile& file) {
  if (::unlinkat(home, file.name, 0) != 0 && errno != ENOENT) in.fail(errno);
}

void write_file(Inside& in, int home, const PlanFile& file) {
  make_folders(in, home, file);
  if (has_seed(in)) make_place(in, home, file);
  const mode_t mode = file.executable != 0 ? 0755 : 0644;
  const Fd target(::openat(home, file.name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, mode));
  in.check(target.get());
  copy_bytes(in, target.get(), file);
}

}  // namespace

void write_files(Inside& in) {
  if (in.plan.file_count == 0) return;
  own_files_as_run(in);
  const Fd home(::open(kHome, O_PATH | O_DIRECTORY | O_CLOEXEC));
  in.check(home.get());
  for (in.file = 1; in.file <= in.plan.file_count; ++in.file) write_file(in, home.get(), in.plan.files[in.file - 1]);
}

}  // namespace mayfly
