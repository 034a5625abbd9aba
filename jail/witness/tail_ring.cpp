#include "jail/witness/tail_ring.h"

#include <algorithm>

namespace mayfly {

void TailRing::add(std::span<const char> bytes) {
  if (bytes.size() > memory_.size()) bytes = bytes.last(memory_.size());
  const std::size_t first = std::min(bytes.size(), memory_.size() - next_);
  std::copy_n(bytes.begin(), first, memory_.begin() + static_cast<std::ptrdiff_t>(next_));
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(first), bytes.size() - first, memory_.begin());
  next_ = (next_ + bytes.size()) % memory_.size();
  size_ = std::min(size_ + bytes.size(), memory_.size());
}

std::size_t TailRing::copy(std::span<char> into) const {
  const std::size_t count = std::min(size_, into.size());
  for (std::size_t i = 0; i < count; ++i) into[i] = memory_[(next_ + memory_.size() - count + i) % memory_.size()];
  return count;
}

}  // namespace mayfly
