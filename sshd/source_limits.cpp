#include "sshd/source_limits.h"

namespace mayfly {

Entry SourceLimits::enter(const std::string& source) {
  if (count_ >= places_.all) return Entry::Full;
  const auto found = by_source_.find(source);
  if (found != by_source_.end() &&
      (found->second.all >= places_.of_source || found->second.unauthenticated >= places_.of_source_unauthenticated))
    return Entry::SourceFull;
  Held& held = by_source_[source];
  ++held.all;
  ++held.unauthenticated;
  ++count_;
  ++unauthenticated_;
  return Entry::Admitted;
}

void SourceLimits::authenticated(const std::string& source) {
  const auto found = by_source_.find(source);
  if (found == by_source_.end() || found->second.unauthenticated == 0) return;
  --found->second.unauthenticated;
  --unauthenticated_;
}

bool SourceLimits::has_authenticated(const std::string& source) const {
  const auto found = by_source_.find(source);
  return found != by_source_.end() && found->second.all > found->second.unauthenticated;
}

void SourceLimits::leave(const std::string& source, Standing standing) {
  if (standing == Standing::Unauthenticated) authenticated(source);
  const auto found = by_source_.find(source);
  if (found == by_source_.end()) return;
  if (--found->second.all == 0) by_source_.erase(found);
  --count_;
}

}  // namespace mayfly
