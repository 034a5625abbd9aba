#include "jail/os/event_loop.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "jail/os/clock.h"

namespace mayfly {

Expected<EventLoop> EventLoop::make() {
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return failure("make event loop", errno);
  return EventLoop(std::move(epoll));
}

// The generation travels with the event: an event for a descriptor that was closed and reused within the same
// turn carries the old one and is dropped.
Expected<void> EventLoop::watch(int fd, std::uint32_t interest, Handler handler) {
  const std::uint64_t generation = ++serial_;
  epoll_event event{};
  event.events = interest;
  event.data.u64 = (generation & 0xffffffffu) << 32 | static_cast<std::uint32_t>(fd);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) return failure("watch descriptor", errno);
  watches_[fd] = std::make_shared<Watch>(Watch{std::move(handler), generation & 0xffffffffu});
  return {};
}

Expected<void> EventLoop::change(int fd, std::uint32_t interest) {
  const auto found = watches_.find(fd);
  if (found == watches_.end()) return failure("change watch", ENOENT);
  epoll_event event{};
  event.events = interest;
  event.data.u64 = found->second->generation << 32 | static_cast<std::uint32_t>(fd);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) != 0) return failure("change watch", errno);
  return {};
}

void EventLoop::forget(int fd) {
  if (watches_.erase(fd) != 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

EventLoop::TimerId EventLoop::at(Microseconds monotonic, std::function<void()> what) {
  const TimerId id{monotonic, ++serial_};
  timers_.emplace(id, std::move(what));
  return id;
}

EventLoop::TimerId EventLoop::after(Milliseconds delay, std::function<void()> what) {
  return at(monotonic_now() + delay, std::move(what));
}

void EventLoop::cancel(TimerId timer) { timers_.erase(timer); }

void EventLoop::when_idle(Milliseconds quiet, std::function<bool()> what) {
  quiet_ = quiet;
  idle_ = std::move(what);
  idle_done_ = false;
}

int EventLoop::wait_ms() const {
  std::int64_t wait = -1;
  if (!timers_.empty()) {
    const Microseconds left = timers_.begin()->first.first - monotonic_now();
    wait = std::max<std::int64_t>(0, (left.count() + 999) / 1000);
  }
  if (idle_ && !idle_done_ && (wait < 0 || wait > quiet_.count())) wait = quiet_.count();
  return static_cast<int>(std::min<std::int64_t>(wait, 60'000));
}

void EventLoop::fire_timers() {
  const Microseconds now = monotonic_now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    const auto what = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    what();
  }
}

Expected<void> EventLoop::turn() {
  std::array<epoll_event, 64> events{};
  const int timeout = wait_ms();
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout);
  if (count < 0 && errno != EINTR) return failure("wait for events", errno);
  const bool is_due = !timers_.empty() && timers_.begin()->first.first <= monotonic_now();
  if (count == 0 && !is_due && idle_ && !idle_done_ && timeout == quiet_.count()) {
    idle_done_ = !idle_();
  }
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const auto found = watches_.find(static_cast<int>(event.data.u64 & 0xffffffffu));
    if (found == watches_.end() || found->second->generation != event.data.u64 >> 32) continue;
    const std::shared_ptr<Watch> alive = found->second;  // the handler may forget itself
    alive->handler(event.events);
  }
  if (count > 0) idle_done_ = false;
  fire_timers();
  return {};
}

Expected<void> EventLoop::run() {
  while (!stopped_) TRY(turn());
  return {};
}

}  // namespace mayfly
