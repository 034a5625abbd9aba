// PollSet: what one turn of the relay waits for. Filled anew for each turn from the state of its parts, so that there
// is no list of interests that could disagree with it. poll(2).
//
// Trap: POLLHUP and POLLERR are reported whether asked for or not. A descriptor whose hang-up would not be acted upon
// in this turn must not be in the set, or the relay spins.
#pragma once

#include <poll.h>

#include <array>
#include <cstddef>

namespace mayfly {

class PollSet {
 public:
  static constexpr std::size_t kMost = 12;
  using Place = int;  // -1: not in the set

  void clear() { count_ = 0; }
  // Nothing for a descriptor of -1.
  Place add(int fd, short events) {
    if (fd < 0 || count_ == kMost) return -1;
    entries_[count_] = pollfd{fd, events, 0};
    return static_cast<Place>(count_++);
  }
  // -1 waits without limit. Interrupted: nothing has happened.
  void wait(int milliseconds) {
    if (::poll(entries_.data(), count_, milliseconds) < 0) {
      for (std::size_t i = 0; i < count_; ++i) entries_[i].revents = 0;
    }
  }
  [[nodiscard]] short at(Place place) const {
    return place < 0 ? short{0} : entries_[static_cast<std::size_t>(place)].revents;
  }

 private:
  std::array<pollfd, kMost> entries_;
  std::size_t count_ = 0;
};

}  // namespace mayfly
