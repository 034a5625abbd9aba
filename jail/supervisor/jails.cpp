#include "jail/supervisor/jails.h"

namespace mayfly {

HeldJail& JailTable::add(std::unique_ptr<HeldJail> held) {
  const JailId id = held->jail.spec().id;
  return *table_.emplace(id, std::move(held)).first->second;
}

HeldJail* JailTable::find(const JailId& id) {
  const auto found = table_.find(id);
  return found == table_.end() ? nullptr : found->second.get();
}

void JailTable::bury(const JailId& id) {
  const auto found = table_.find(id);
  if (found == table_.end()) return;
  if (const auto slot = found->second->jail.slot()) by_slot_[*slot] = nullptr;
  buried_.push_back(std::move(found->second));
  table_.erase(found);
  if (!sweep_.is_set()) sweep_.set(Milliseconds{0}, [this] { buried_.clear(); });
}

std::vector<JailId> JailTable::ids() const {
  std::vector<JailId> all;
  all.reserve(table_.size());
  for (const auto& [id, held] : table_) all.push_back(id);
  return all;
}

}  // namespace mayfly
