// TailRing: the last bytes of a stream, as many as its memory holds. The memory is somebody else's.
#pragma once

#include <cstddef>
#include <span>

namespace mayfly {

class TailRing {
 public:
  explicit TailRing(std::span<char> memory) : memory_(memory) {}

  void add(std::span<const char> bytes);
  [[nodiscard]] std::size_t size() const { return size_; }
  // Oldest byte first. Copies min(size(), into.size()) bytes, the last ones, and returns how many.
  std::size_t copy(std::span<char> into) const;

 private:
  std::span<char> memory_;
  std::size_t next_ = 0;  // where the next byte goes
  std::size_t size_ = 0;
};

}  // namespace mayfly
