#include "jail/witness/byte_queue.h"

#include <algorithm>
#include <cstring>

namespace mayfly {

std::span<char> ByteQueue::room(std::size_t wanted) {
  if (memory_.size() - end_ < wanted && begin_ > 0) {
    std::memmove(memory_.data(), memory_.data() + begin_, size());
    end_ = size();
    begin_ = 0;
  }
  return memory_.subspan(end_, std::min(wanted, memory_.size() - end_));
}

void ByteQueue::taken(std::size_t count) {
  begin_ += count;
  if (begin_ == end_) begin_ = end_ = 0;
}

bool ByteQueue::append(std::string_view bytes) {
  const std::span<char> place = room(bytes.size());
  if (place.size() < bytes.size()) return false;
  std::copy(bytes.begin(), bytes.end(), place.begin());
  kept(bytes.size());
  return true;
}

}  // namespace mayfly
