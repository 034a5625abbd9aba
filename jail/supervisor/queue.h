// Queue: requests that wait for a place. Bounded by its caller; fair: every principal has a lane of its own and the
// lanes take turns; those at the door in person (SSH, command line) go before API runs. Pure: no clock, no loop.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "jail/spec/jail_id.h"
#include "jail/spec/request.h"

namespace mayfly {

struct Ticket {
  JailId id;
  OriginKind origin = OriginKind::Cli;
  std::string principal;
};

enum class Place : std::uint8_t {
  Start,        // it starts now
  NotThisOne,   // its principal has used its share: the next lane may go
  NobodyNow,    // the host is full: who waits longest keeps the first place, whatever it needs
  NotThisKind,  // API runs have used their share
};

class Queue {
 public:
  void push(Ticket ticket);
  bool remove(const JailId& id);

  // The next one that `judge` lets start, taken out; none when nobody may.
  std::optional<Ticket> take(const std::function<Place(const Ticket&)>& judge);

  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] std::size_t size_of(const std::string& principal) const;

  struct Position {
    JailId id;
    std::uint32_t number;  // 1 = next
  };
  [[nodiscard]] std::vector<Position> positions() const;  // in the order in which they would start

 private:
  struct Lane {
    std::string principal;
    std::deque<Ticket> tickets;
  };
  using Lanes = std::list<Lane>;  // the front lane has its turn
  static std::size_t rank(OriginKind origin) { return origin == OriginKind::Api ? 1 : 0; }
  static void list_turns(const Lanes& lanes, std::vector<Position>& into);

  Lanes ranks_[2];
};

}  // namespace mayfly
