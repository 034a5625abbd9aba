#include "tests/fuzz/stage.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "tests/fuzz/ssh_bytes.h"
#include "tests/fuzz/violation.h"

// What --wrap leaves us: the C library's own.
extern "C" {
int __real_poll(pollfd* entries, nfds_t count, int timeout_ms);
ssize_t __real_write(int fd, const void* bytes, std::size_t count);
int __real_clock_gettime(clockid_t clock, timespec* now);
unsigned __real_alarm(unsigned seconds);
int __real_setitimer(__itimer_which_t which, const itimerval* value, itimerval* before);
int __real_setsockopt(int socket, int level, int option, const void* value, socklen_t length);
}

namespace mayfly::fuzz {

namespace {

constexpr std::int64_t kStart = 1'000'000'000'000;       // microseconds
constexpr std::int64_t kMostAfterEnd = 10'000'000;       // twice the farewell, and room
constexpr std::int64_t kMostPlayed = 4'000'000'000'000;  // a scenario's Waits are shorter by far
constexpr std::uint64_t kMostTurnsWithoutNews = 2'000;   // 300 000 bytes in small pieces are 600

Stage* active_stage = nullptr;

}  // namespace

Stage* Stage::active() { return active_stage; }

Stage::Stage(const Scenario& scenario, FarEnds ends, Reached& reached)
    : scenario_(scenario),
      reached_(reached),
      peer_(std::move(ends.peer), scenario, reached),
      supervisor_(std::move(ends.lease), scenario, reached),
      keeper_(std::move(ends.keeper)),
      now_us_(kStart) {
  active_stage = this;
}

Stage::~Stage() { active_stage = nullptr; }

int Stage::poll(pollfd* entries, nfds_t count, int timeout_ms) {
  ++reached_.turns;
  for (;;) {
    const bool flushed = peer_.flush();
    const bool supervised = supervisor_.step();
    const bool moved = peer_.drain() || supervised;
    if (moved) turns_without_news_ = 0;
    const int ready = ::__real_poll(entries, count, 0);
    if (ready != 0 && ++turns_without_news_ > kMostTurnsWithoutNews) violated("the session spins");
    if (ready != 0 || timeout_ms == 0) return ready;
    if (moved) continue;
    if (waiting_us_ > 0) return let_time_pass(timeout_ms);
    if (!flushed || !deliver_next()) return let_time_pass(timeout_ms);
    turns_without_news_ = 0;
  }
}

int Stage::let_time_pass(int timeout_ms) {
  if (timeout_ms < 0) violated("the session waits without end");
  std::int64_t passed = timeout_ms * 1000LL;
  if (waiting_us_ > 0) passed = std::min(passed, waiting_us_);
  waiting_us_ = std::max<std::int64_t>(0, waiting_us_ - passed);
  now_us_ += passed;
  reached_.seconds = static_cast<std::uint64_t>((now_us_ - kStart) / 1'000'000);
  if (over_ && now_us_ - over_us_ > kMostAfterEnd) violated("the session stays though its peer has ended");
  if (now_us_ - kStart > kMostPlayed) violated("the session never ends");
  return 0;
}

bool Stage::deliver_next() {
  if (peer_.advance_prelude()) return true;
  if (next_ < scenario_.records.size()) {
    bool more = true;
    while (more && next_ < scenario_.records.size()) {
      more = scenario_.records[next_].with_next;
      play(scenario_.records[next_++]);
    }
    return true;
  }
  if (over_) return false;
  over_ = true;
  over_us_ = now_us_;
  peer_.end_input();
  return true;
}

void Stage::play(const Record& record) {
  switch (record.act) {
    case Act::Packet:
      return peer_.send_packet(record.bytes);
    case Act::Raw:
      return peer_.send_raw(record.bytes);
    case Act::Wait:
      waiting_us_ += 1'000'000LL * Bytes(record.bytes).byte();
      return;
    case Act::JailWrites:
      return supervisor_.write_from_jail(record.bytes);
    case Act::JailEnds:
      return supervisor_.end_jail(record.bytes);
    case Act::PeerHalts:
    case Act::PeerReads:
      return peer_.halt(record.act == Act::PeerHalts);
    case Act::EngineStops:
      return supervisor_.stop();
    case Act::ServiceStops: {
      const std::uint64_t one = 1;
      (void)!::__real_write(keeper_.get(), &one, sizeof one);
      return;
    }
    case Act::PeerVanishes:
    case Act::Count:
      return peer_.vanish();
  }
}

void Stage::judge_log_line(std::string_view line) const {
  const bool one_line = line.ends_with('\n') && line.find('\n') == line.size() - 1;
  const bool printable = std::all_of(line.begin(), line.end() - 1, [](char c) { return c >= 0x20 && c <= 0x7e; });
  if (!one_line || !printable) violated("a log line is more than one line of printable characters", std::string(line));
}

void Stage::judge_end(bool admitted) const {
  if (admitted != (alarms_off_ == 1)) violated("the alarm is off though nobody logged in, or the other way round");
  if (reached_.logins > 1) violated("a peer was let in twice");
  if (reached_.logins != 0 && !admitted) violated("a peer was let in and the listener was not told");
  if (reached_.runs != 0 && !admitted) violated("a jail was asked for and the listener was not told of a login");
}

}  // namespace mayfly::fuzz

using mayfly::fuzz::Stage;

extern "C" {

int __wrap_poll(pollfd* entries, nfds_t count, int timeout_ms) {
  Stage* const stage = Stage::active();
  return stage == nullptr ? ::__real_poll(entries, count, timeout_ms) : stage->poll(entries, count, timeout_ms);
}

// What _FORTIFY_SOURCE makes of poll(2) in some builds: it checks the length first.
int __wrap___poll_chk(pollfd* entries, nfds_t count, int timeout_ms, std::size_t bytes) {
  if (count * sizeof *entries > bytes) mayfly::fuzz::violated("poll(2) is given more entries than there are");
  return __wrap_poll(entries, count, timeout_ms);
}

ssize_t __wrap_write(int fd, const void* bytes, std::size_t count) {
  const Stage* const stage = Stage::active();
  if (stage == nullptr || fd != STDERR_FILENO) return ::__real_write(fd, bytes, count);
  stage->judge_log_line({static_cast<const char*>(bytes), count});
  return static_cast<ssize_t>(count);
}

int __wrap_clock_gettime(clockid_t clock, timespec* now) {
  Stage* const stage = Stage::active();
  if (stage == nullptr || clock != CLOCK_MONOTONIC) return ::__real_clock_gettime(clock, now);
  const std::int64_t us = stage->now_us();
  *now = {us / 1'000'000, us % 1'000'000 * 1000};
  return 0;
}

unsigned __wrap_alarm(unsigned seconds) {
  Stage* const stage = Stage::active();
  if (stage == nullptr) return ::__real_alarm(seconds);
  if (seconds == 0) stage->note_alarm_off();
  return 0;
}

// The session's guard against a turn that never ends would end the harness, long after the turn that it was for.
int __wrap_setitimer(__itimer_which_t which, const itimerval* value, itimerval* before) {
  return Stage::active() == nullptr ? ::__real_setitimer(which, value, before) : 0;
}

// The connection is a Unix socket here: what is said to it is there at once, and thousands a second leave no TIME_WAIT.
int __wrap_setsockopt(int socket, int level, int option, const void* value, socklen_t length) {
  if (Stage::active() != nullptr && level == IPPROTO_TCP) return 0;
  return ::__real_setsockopt(socket, level, option, value, length);
}

}  // extern "C"
