#include "jail/cli/uid_blocks.h"

#include <fcntl.h>

#include <cerrno>

namespace mayfly {

Expected<UidBlock> UidBlock::take(const std::string& table_path) {
  Fd table(::open(table_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!table) return failure("open table of uid blocks", errno, table_path);
  for (std::uint32_t number = 0; number < kBlocks; ++number) {
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = static_cast<off_t>(number);
    range.l_len = 1;  // locks beyond the end of a file are allowed: the table stays empty
    if (::fcntl(table.get(), F_OFD_SETLK, &range) == 0) return UidBlock(number, std::move(table));
    if (errno != EAGAIN && errno != EACCES) return failure("lock a uid block", errno, table_path);
  }
  return failure("find a free uid block", 0, table_path, "all 1024 are taken; stop an engine");
}

}  // namespace mayfly
