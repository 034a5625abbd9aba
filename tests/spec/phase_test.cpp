#include "jail/spec/phase.h"

#include <catch2/catch.hpp>
#include <set>

namespace mayfly {

namespace {
constexpr Event kEvents[] = {Event::Admitted, Event::Built,    Event::Opened,  Event::EndRequested,
                             Event::Closed,   Event::Recorded, Event::Released};
}

TEST_CASE("every way from queued leads to released, and never back") {
  std::set<Phase> reached = {Phase::Queued};
  std::set<Phase> frontier = reached;
  while (!frontier.empty()) {
    std::set<Phase> after;
    for (const Phase phase : frontier)
      for (const Event event : kEvents)
        if (const auto to = next(phase, event)) {
          CHECK(static_cast<int>(*to) > static_cast<int>(phase));
          if (reached.insert(*to).second) after.insert(*to);
        }
    frontier = after;
  }
  CHECK(reached.size() == 8);
}

TEST_CASE("the gate opens only for a jail that stands at it") {
  for (int phase = 0; phase < 8; ++phase)
    CHECK(next(static_cast<Phase>(phase), Event::Opened).has_value() == (static_cast<Phase>(phase) == Phase::Gated));
}

}  // namespace mayfly
