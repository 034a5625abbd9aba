// Watched: one descriptor that the event loop watches. Forgotten by the loop before it is closed, always in that
// order, so that a handler never runs for a descriptor that was reused. Owner: whoever acts on the events.
#pragma once

#include <cstdint>
#include <utility>

#include "jail/expected.h"
#include "jail/os/event_loop.h"
#include "jail/os/fd.h"

namespace mayfly {

class Watched {
 public:
  Watched() = default;
  static Expected<Watched> make(EventLoop& loop, Fd fd, std::uint32_t interest, EventLoop::Handler handler) {
    TRY(loop.watch(fd.get(), interest, std::move(handler)));
    return Watched(loop, std::move(fd));
  }
  Watched(Watched&& other) noexcept : loop_(std::exchange(other.loop_, nullptr)), fd_(std::move(other.fd_)) {}
  Watched& operator=(Watched&& other) noexcept {
    if (this != &other) {
      reset();
      loop_ = std::exchange(other.loop_, nullptr);
      fd_ = std::move(other.fd_);
    }
    return *this;
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched() { reset(); }

  [[nodiscard]] int get() const { return fd_.get(); }
  [[nodiscard]] const Fd& fd() const { return fd_; }
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(fd_); }

  // Keeps the descriptor open but hears nothing more of it: after an end of file, which would be told for ever.
  void quiet() {
    if (loop_ && fd_) loop_->forget(fd_.get());
  }
  void reset() {
    quiet();
    fd_.reset();
  }

 private:
  Watched(EventLoop& loop, Fd fd) : loop_(&loop), fd_(std::move(fd)) {}
  EventLoop* loop_ = nullptr;
  Fd fd_;
};

// The same for a descriptor that somebody else owns and keeps open longer.
class WatchedBorrowed {
 public:
  WatchedBorrowed() = default;
  WatchedBorrowed(const WatchedBorrowed&) = delete;
  WatchedBorrowed& operator=(const WatchedBorrowed&) = delete;
  ~WatchedBorrowed() { reset(); }

  Expected<void> watch(EventLoop& loop, int fd, std::uint32_t interest, EventLoop::Handler handler) {
    reset();
    TRY(loop.watch(fd, interest, std::move(handler)));
    loop_ = &loop;
    fd_ = fd;
    return {};
  }
  void reset() {
    if (loop_) std::exchange(loop_, nullptr)->forget(fd_);
  }

 private:
  EventLoop* loop_ = nullptr;
  int fd_ = -1;
};

}  // namespace mayfly
