#include "sshd/session/deadlines.h"

#include <algorithm>

namespace mayfly {

void Deadlines::heard(Microseconds now) {
  heard_ = now;
  asked_ = 0;
}

Due Deadlines::due(Microseconds now) {
  if (!admitted_) return now >= grace_until_ ? Due::LoginTooSlow : Due::Nothing;
  if (now >= used_ + kUnusedLimit) return Due::Unused;
  if (now < keepalive_at()) return Due::Nothing;
  if (++asked_ >= kSilentIntervals) return Due::PeerSilent;
  return Due::Keepalive;
}

Microseconds Deadlines::next() const {
  if (!admitted_) return grace_until_;
  return std::min<Microseconds>(keepalive_at(), used_ + kUnusedLimit);
}

}  // namespace mayfly
