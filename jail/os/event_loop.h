// EventLoop: epoll and timers for the single-threaded processes (supervisor, keeper). epoll(7), level-triggered.
// A callback may add and remove anything, itself included. Callbacks do not throw.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "jail/expected.h"
#include "jail/os/fd.h"
#include "jail/spec/units.h"

namespace mayfly {

class EventLoop {
 public:
  using Handler = std::function<void(std::uint32_t epoll_events)>;
  using TimerId = std::pair<Microseconds, std::uint64_t>;

  static Expected<EventLoop> make();

  // Watches `fd` (not owned) until forget(fd). `interest` is EPOLLIN, EPOLLOUT, ... One handler per descriptor.
  Expected<void> watch(int fd, std::uint32_t interest, Handler handler);
  Expected<void> change(int fd, std::uint32_t interest);
  void forget(int fd);  // before the descriptor is closed; idempotent

  TimerId at(Microseconds monotonic, std::function<void()> what);
  TimerId after(Milliseconds delay, std::function<void()> what);
  void cancel(TimerId timer);  // idempotent; a fired timer may be cancelled

  // Called when nothing has happened for `quiet` since the last event or timer. True: again after as long a time
  // without either; false: only after the next event. A timer that is due comes first.
  void when_idle(Milliseconds quiet, std::function<bool()> what);

  Expected<void> run();  // until stop(); returns a Failure only when epoll itself breaks
  void stop() { stopped_ = true; }

 private:
  struct Watch {
    Handler handler;
    std::uint64_t generation;
  };
  explicit EventLoop(Fd epoll) : epoll_(std::move(epoll)) {}
  Expected<void> turn();
  void fire_timers();
  [[nodiscard]] int wait_ms() const;

  Fd epoll_;
  std::unordered_map<int, std::shared_ptr<Watch>> watches_;
  std::map<TimerId, std::function<void()>> timers_;
  std::uint64_t serial_ = 0;
  Milliseconds quiet_{0};
  std::function<bool()> idle_;
  bool idle_done_ = true;
  bool stopped_ = false;
};

}  // namespace mayfly
