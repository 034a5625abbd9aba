#include "sshd/session/warnings.h"

#include <algorithm>

namespace mayfly {

Warnings::Warnings(const Limits& limits, Microseconds started, Milliseconds lead)
    : lead_(lead), idle_(limits.idle), wall_end_(started + limits.wall) {
  if (limits.wall >= 2 * lead_) wall_at_ = wall_end_ - lead_;
  start_silence(started);
}

void Warnings::start_silence(Microseconds now) {
  idle_at_.reset();
  if (idle_ >= 2 * lead_ && now + idle_ < wall_end_) idle_at_ = now + idle_ - lead_;
}

void Warnings::given_input(std::uint64_t in_all, Microseconds now) {
  if (in_all == given_) return;
  given_ = in_all;
  start_silence(now);
}

Warning Warnings::due(Microseconds now) {
  if (wall_at_ && now >= *wall_at_) {
    wall_at_.reset();
    return Warning::WallLimit;
  }
  if (idle_at_ && now >= *idle_at_) {
    idle_at_.reset();
    return Warning::IdleLimit;
  }
  return Warning::Nothing;
}

std::optional<Microseconds> Warnings::next() const {
  if (wall_at_ && idle_at_) return std::min(*wall_at_, *idle_at_);
  return wall_at_ ? wall_at_ : idle_at_;
}

}  // namespace mayfly
