#include "jail/supervisor/queue.h"

#include <algorithm>

namespace mayfly {

void Queue::push(Ticket ticket) {
  Lanes& lanes = ranks_[rank(ticket.origin)];
  auto lane = std::find_if(lanes.begin(), lanes.end(), [&](const Lane& l) { return l.principal == ticket.principal; });
  if (lane == lanes.end()) lane = lanes.insert(lanes.end(), Lane{ticket.principal, {}});
  lane->tickets.push_back(std::move(ticket));
}

bool Queue::remove(const JailId& id) {
  for (Lanes& lanes : ranks_) {
    for (auto lane = lanes.begin(); lane != lanes.end(); ++lane) {
      const auto found =
          std::find_if(lane->tickets.begin(), lane->tickets.end(), [&](const Ticket& t) { return t.id == id; });
      if (found == lane->tickets.end()) continue;
      lane->tickets.erase(found);
      if (lane->tickets.empty()) lanes.erase(lane);
      return true;
    }
  }
  return false;
}

std::optional<Ticket> Queue::take(const std::function<Place(const Ticket&)>& judge) {
  for (Lanes& lanes : ranks_) {
    for (auto lane = lanes.begin(); lane != lanes.end(); ++lane) {
      const Place place = judge(lane->tickets.front());
      if (place == Place::NobodyNow) return std::nullopt;
      if (place == Place::NotThisKind) break;
      if (place == Place::NotThisOne) continue;
      Ticket ticket = std::move(lane->tickets.front());
      lane->tickets.pop_front();
      if (lane->tickets.empty())
        lanes.erase(lane);
      else
        lanes.splice(lanes.end(), lanes, lane);  // had its turn
      return ticket;
    }
  }
  return std::nullopt;
}

std::size_t Queue::size() const {
  std::size_t sum = 0;
  for (const Lanes& lanes : ranks_)
    for (const Lane& lane : lanes) sum += lane.tickets.size();
  return sum;
}

std::size_t Queue::size_of(const std::string& principal) const {
  std::size_t sum = 0;
  for (const Lanes& lanes : ranks_)
    for (const Lane& lane : lanes)
      if (lane.principal == principal) sum += lane.tickets.size();
  return sum;
}

void Queue::list_turns(const Lanes& lanes, std::vector<Position>& into) {
  std::size_t longest = 0;
  for (const Lane& lane : lanes) longest = std::max(longest, lane.tickets.size());
  for (std::size_t round = 0; round < longest; ++round)
    for (const Lane& lane : lanes)
      if (round < lane.tickets.size())
        into.push_back({lane.tickets[round].id, static_cast<std::uint32_t>(into.size() + 1)});
}

std::vector<Queue::Position> Queue::positions() const {
  std::vector<Position> all;
  for (const Lanes& lanes : ranks_) list_turns(lanes, all);
  return all;
}

}  // namespace mayfly
