// ByteQueue: bytes in order, in memory of a fixed size that somebody else owns. Never grows, never allocates.
// Free room and content are each one piece, so that one read(2) fills it and one write(2) empties it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace mayfly {

class ByteQueue {
 public:
  explicit ByteQueue(std::span<char> memory) : memory_(memory) {}

  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  [[nodiscard]] std::string_view content() const { return {memory_.data() + begin_, size()}; }

  // Up to `wanted` bytes of room, after the content; shorter only when the memory is nearly full. What is written
  // there belongs to the queue once it was kept().
  std::span<char> room(std::size_t wanted);
  void kept(std::size_t count) { end_ += count; }
  void taken(std::size_t count);
  // All of it or nothing.
  bool append(std::string_view bytes);

 private:
  std::span<char> memory_;
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace mayfly
