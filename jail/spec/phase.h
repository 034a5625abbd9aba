// Phase: where a jail is in its life, and the one table that says which event leads where (design section 4).
// jail/supervisor/jail.cpp is the only writer of a jail's phase.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace mayfly {

enum class Phase : std::uint8_t { Queued, Building, Gated, Running, Ending, Closed, Recorded, Released };

enum class Event : std::uint8_t {
  Admitted,      // a place and its memory are reserved
  Built,         // the program waits at the gate with every layer on
  Opened,        // controls measured, requirements met, gate open
  EndRequested,  // any reason at all: the program ended, a limit, the peer, a failure while building
  Closed,        // pid 1 reaped, cgroups removed, no descriptor left with us
  Recorded,      // the record is on disk (issue D; today: the result is final)
  Released,      // the kernel has freed what it frees late
};

struct Transition {
  Phase from;
  Event event;
  Phase to;
};

inline constexpr std::array kTransitions = {
    Transition{Phase::Queued, Event::Admitted, Phase::Building},
    Transition{Phase::Queued, Event::EndRequested, Phase::Closed},  // never had a kernel object
    Transition{Phase::Building, Event::Built, Phase::Gated},
    Transition{Phase::Building, Event::EndRequested, Phase::Ending},
    Transition{Phase::Gated, Event::Opened, Phase::Running},
    Transition{Phase::Gated, Event::EndRequested, Phase::Ending},
    Transition{Phase::Running, Event::EndRequested, Phase::Ending},
    Transition{Phase::Ending, Event::Closed, Phase::Closed},
    Transition{Phase::Closed, Event::Recorded, Phase::Recorded},
    Transition{Phase::Recorded, Event::Released, Phase::Released},
};

constexpr std::optional<Phase> next(Phase from, Event event) {
  for (const Transition& row : kTransitions)
    if (row.from == from && row.event == event) return row.to;
  return std::nullopt;
}

static_assert(next(Phase::Gated, Event::Opened) == Phase::Running);
static_assert(!next(Phase::Building, Event::Opened));    // the gate opens from Gated alone
static_assert(!next(Phase::Running, Event::Built));      // a jail is built once
static_assert(!next(Phase::Released, Event::Admitted));  // a released jail stays released
static_assert(!next(Phase::Ending, Event::EndRequested));

std::string_view name(Phase phase);

}  // namespace mayfly
