#include "sshd/session/turn_watch.h"

#include <sys/time.h>

namespace mayfly {

namespace {

using namespace literals;

constexpr int kMostSeconds = 3;  // of the processor; a busy turn with ten channels takes some 50 ms
// No more processor time passes than time: the timer is wound up again this often and not in each turn.
constexpr Milliseconds kEvery = 1_s;

void allow(int seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  (void)::setitimer(ITIMER_PROF, &timer, nullptr);
}

}  // namespace

TurnWatch::~TurnWatch() {
  if (begun_) allow(0);
}

void TurnWatch::begin_turn(Microseconds now) {
  if (begun_ && now - *begun_ < kEvery) return;
  begun_ = now;
  allow(kMostSeconds);
}

}  // namespace mayfly
