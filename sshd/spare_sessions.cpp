#include "sshd/spare_sessions.h"

#include <sys/epoll.h>

#include <algorithm>

#include "jail/os/log.h"

namespace mayfly {

namespace {
using namespace literals;
constexpr Milliseconds kQuiet = 100_ms;  // a short connection is over by then, and a long one has its jail
}  // namespace

SpareSessions::SpareSessions(EventLoop& loop, std::string program, bool wanted)
    : loop_(loop), program_(std::move(program)), wanted_(wanted) {
  if (!wanted_) return;
  loop_.when_idle(kQuiet, [this] {
    const std::size_t before = waiting_.size();
    if (before < kMostSpareSessions && !one_ended_) make();
    return waiting_.size() > before;
  });
}

std::optional<SessionProcess> SpareSessions::take() {
  one_ended_ = false;
  if (waiting_.empty()) return std::nullopt;
  SessionProcess taken = std::move(waiting_.front());
  waiting_.pop_front();
  loop_.forget(taken.pidfd().get());
  return taken;
}

void SpareSessions::somebody_left() {
  // After whatever else has happened in this turn: somebody may have come, too.
  if (wanted_ && waiting_.empty())
    loop_.after(Milliseconds(0), [this] {
      if (waiting_.empty() && !one_ended_) make();
    });
}

// Without one, whoever comes next has a process started, and hears why that cannot be; so it is not said here.
void SpareSessions::make() {
  auto started = SessionProcess::start(program_);
  if (!started) return;
  const int pidfd = started->pidfd().get();
  if (!loop_.watch(pidfd, EPOLLIN, [this, pidfd](std::uint32_t) { ended(pidfd); }))
    return static_cast<void>(started->abandon());
  waiting_.push_back(std::move(*started));
}

void SpareSessions::ended(int pidfd) {
  loop_.forget(pidfd);
  const auto one = std::find_if(waiting_.begin(), waiting_.end(),
                                [pidfd](const SessionProcess& process) { return process.pidfd().get() == pidfd; });
  if (one == waiting_.end()) return;
  const auto status = one->reap();
  log_line(Severity::Warning, "sshd.spare_ended",
           {{"pid", std::to_string(one->pid())}, {"status", std::to_string(status.value_or(0))}},
           "a session process ended before it had a connection");
  waiting_.erase(one);
  one_ended_ = true;
}

}  // namespace mayfly
