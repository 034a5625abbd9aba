#include "sshd/source_limits.h"

namespace mayfly {

Entry SourceLimits::enter(const std::string& source) {
  if (count_ >= most_) return Entry::Full;
  const auto found = by_source_.find(source);
  if (found != by_source_.end() && found->second >= most_per_source_) return Entry::SourceFull;
  ++by_source_[source];
  ++count_;
  return Entry::Admitted;
}

void SourceLimits::leave(const std::string& source) {
  const auto found = by_source_.find(source);
  if (found == by_source_.end()) return;
  if (--found->second == 0) by_source_.erase(found);
  --count_;
}

}  // namespace mayfly
