// JailTable: every jail that is not wholly gone, by id and by slot, with what is held for each outside the
// kernel. A jail that buries itself in one of its own calls is destroyed in the loop's next turn.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "jail/supervisor/admission.h"
#include "jail/supervisor/jail.h"
#include "jail/supervisor/timer.h"

namespace mayfly {

struct HeldJail {
  HeldJail(Surroundings& around, Spec spec, PeerFds peer, Lessee lessee)
      : deadline(around.loop), jail(around, std::move(spec), std::move(peer), lessee) {}
  Reservation reservation;
  Timer deadline;  // of its waiting in the queue
  Jail jail;
};

class JailTable {
 public:
  explicit JailTable(EventLoop& loop) : sweep_(loop), by_slot_(kSlotsPerInstance, nullptr) {}

  HeldJail& add(std::unique_ptr<HeldJail> held);
  [[nodiscard]] HeldJail* find(const JailId& id);
  [[nodiscard]] HeldJail* at_slot(std::uint32_t slot) { return slot < by_slot_.size() ? by_slot_[slot] : nullptr; }
  void seat(HeldJail& held, std::uint32_t slot) { by_slot_[slot] = &held; }
  void bury(const JailId& id);

  // The ids now in the table: safe to walk while jails end, are buried, or begin.
  [[nodiscard]] std::vector<JailId> ids() const;
  [[nodiscard]] const std::map<JailId, std::unique_ptr<HeldJail>>& all() const { return table_; }

 private:
  Timer sweep_;
  std::map<JailId, std::unique_ptr<HeldJail>> table_;
  std::vector<HeldJail*> by_slot_;
  std::vector<std::unique_ptr<HeldJail>> buried_;
};

}  // namespace mayfly
