// Fd: the one owner of one file descriptor. Move-only; closed on destruction. Every descriptor of ours is
// CLOEXEC from birth; who wants one across exec says so by name (os/child.h).
#pragma once

#include <unistd.h>

#include <utility>

namespace mayfly {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int number) : number_(number) {}  // takes ownership; -1 is "none"
  Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      number_ = std::exchange(other.number_, -1);
    }
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] explicit operator bool() const { return number_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }
  void reset() {
    // close(2): the descriptor is gone on Linux whatever close returns, EINTR included.
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

}  // namespace mayfly
