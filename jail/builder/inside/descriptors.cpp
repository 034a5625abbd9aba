#include "jail/builder/inside/descriptors.h"

#include <unistd.h>

#include <algorithm>
#include <climits>

namespace mayfly {

namespace {

class Needed {
 public:
  void add(int fd) {
    if (fd >= 0) numbers_[count_++] = fd;
  }
  void close_all_others() {
    std::sort(numbers_.begin(), numbers_.begin() + count_);
    unsigned first = 3;
    for (std::uint32_t i = 0; i < count_; ++i) {
      const auto kept = static_cast<unsigned>(numbers_[i]);
      if (kept > first) ::close_range(first, kept - 1, 0);
      first = std::max(first, kept + 1);
    }
    ::close_range(first, UINT_MAX, 0);
  }

 private:
  std::array<int, 7 + Inside::kMostCgroupFds + PreparedRow::kMostTrees> numbers_{};
  std::uint32_t count_ = 0;
};

}  // namespace

void keep_only_ours(Inside& in) {
  Needed needed;
  for (const int fd : {in.gate, in.stream, in.payload, in.ids_ready, in.supervisor, in.root, in.ruleset})
    needed.add(fd);
  for (std::uint32_t i = 0; i < in.task_count; ++i) needed.add(in.tasks[i]);
  for (std::uint32_t i = 0; i < in.row.count; ++i) needed.add(in.trees[i]);
  needed.close_all_others();
}

}  // namespace mayfly
