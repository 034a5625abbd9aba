// Slots: the numbered places of live jails. A slot stands for four host uids, so it is given out again only after
// everything that ran under them is gone (released), and the longest unused one first.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace mayfly {

class Slots {
 public:
  explicit Slots(std::uint32_t count) : count_(count) {}

  std::optional<std::uint32_t> take() {
    if (!free_.empty()) {
      const std::uint32_t slot = free_.front();
      free_.pop_front();
      return slot;
    }
    if (next_ == count_) return std::nullopt;
    return next_++;
  }
  void give_back(std::uint32_t slot) { free_.push_back(slot); }  // once per take()

  [[nodiscard]] std::uint32_t taken() const { return next_ - static_cast<std::uint32_t>(free_.size()); }

 private:
  std::uint32_t count_;
  std::uint32_t next_ = 0;  // never used so far
  std::deque<std::uint32_t> free_;
};

}  // namespace mayfly
