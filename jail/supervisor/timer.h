// Timer: at most one pending call on the loop; gone with its owner, so that it can never fire for a dead object.
#pragma once

#include <functional>
#include <optional>

#include "jail/os/event_loop.h"

namespace mayfly {

class Timer {
 public:
  explicit Timer(EventLoop& loop) : loop_(loop) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { cancel(); }

  void set(Milliseconds delay, std::function<void()> what) {
    cancel();
    pending_ = loop_.after(delay, [this, what = std::move(what)] {
      pending_.reset();
      what();
    });
  }
  void cancel() {
    if (pending_) loop_.cancel(*std::exchange(pending_, std::nullopt));
  }
  [[nodiscard]] bool is_set() const { return pending_.has_value(); }

 private:
  EventLoop& loop_;
  std::optional<EventLoop::TimerId> pending_;
};

}  // namespace mayfly
