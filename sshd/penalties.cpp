#include "sshd/penalties.h"

#include <algorithm>

namespace mayfly {

void Penalties::add(const std::string& source, Milliseconds penalty, Microseconds now) {
  if (penalty <= Milliseconds{0}) return;
  Held held{now};
  if (const auto found = by_source_.find(source); found != by_source_.end()) {
    if (found->second.until > now) held = found->second;
    forget(found);
  }
  held.until = std::min<Microseconds>(held.until + penalty, now + penalty::kMost);
  held.enforced = held.enforced || held.until - now >= penalty::kLeast;
  by_source_.emplace(source, held);
  by_end_.emplace(held.until, source);
  make_room(now);
}

bool Penalties::refuses(const std::string& source, Microseconds now) const {
  const auto found = by_source_.find(source);
  return found != by_source_.end() && found->second.enforced && found->second.until > now;
}

void Penalties::forget(BySource::iterator source) {
  by_end_.erase({source->second.until, source->first});
  by_source_.erase(source);
}

// A full table lets go of what would be over soonest: it errs on the side of letting somebody in.
void Penalties::make_room(Microseconds now) {
  while (!by_end_.empty() && (by_end_.begin()->first <= now || by_end_.size() > most_sources_))
    forget(by_source_.find(by_end_.begin()->second));
}

}  // namespace mayfly
