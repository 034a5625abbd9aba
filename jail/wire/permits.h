// Permits: who may say what, when. One constexpr table; anything that is not in it closes the peer's connection.
#pragma once

#include <array>
#include <cstdint>

#include "jail/wire/keeper.h"

namespace mayfly {

// Every message of lease.h and monitor.h that a peer can send.
enum class Message : std::uint8_t {
  Open,
  Cancel,
  Signal,
  Resize,
  AskHost,
  LogIn,
  AskStatus,
  AskJails,
  KillJails,
  Drain,
  Invites,  // makes, lists and revokes them
};

// Where the named run (or the connection, for messages without a run) is.
enum class RunPhase : std::uint8_t { NoRun, Live, Over };

struct Permit {
  Role role;
  Message message;
  RunPhase phase;
};

// `Over` rows: the peer cannot know yet that its run has just ended, so late words about it are dropped in silence.
inline constexpr std::array kPermits = {
    Permit{Role::Ssh, Message::LogIn, RunPhase::NoRun},
    Permit{Role::Ssh, Message::Open, RunPhase::NoRun},
    Permit{Role::Ssh, Message::Cancel, RunPhase::Live},
    Permit{Role::Ssh, Message::Cancel, RunPhase::Over},
    Permit{Role::Ssh, Message::Signal, RunPhase::Live},
    Permit{Role::Ssh, Message::Signal, RunPhase::Over},
    Permit{Role::Ssh, Message::Resize, RunPhase::Live},
    Permit{Role::Ssh, Message::Resize, RunPhase::Over},
    Permit{Role::Api, Message::Open, RunPhase::NoRun},
    Permit{Role::Api, Message::Cancel, RunPhase::Live},
    Permit{Role::Api, Message::Cancel, RunPhase::Over},
    Permit{Role::Api, Message::AskHost, RunPhase::NoRun},
    Permit{Role::Cli, Message::Open, RunPhase::NoRun},
    Permit{Role::Cli, Message::Cancel, RunPhase::Live},
    Permit{Role::Cli, Message::Cancel, RunPhase::Over},
    Permit{Role::Cli, Message::Signal, RunPhase::Live},
    Permit{Role::Cli, Message::Signal, RunPhase::Over},
    Permit{Role::Cli, Message::Resize, RunPhase::Live},
    Permit{Role::Cli, Message::Resize, RunPhase::Over},
    Permit{Role::Cli, Message::AskHost, RunPhase::NoRun},
    Permit{Role::MonitorReader, Message::AskStatus, RunPhase::NoRun},
    Permit{Role::MonitorReader, Message::AskJails, RunPhase::NoRun},
    Permit{Role::MonitorOperator, Message::AskStatus, RunPhase::NoRun},
    Permit{Role::MonitorOperator, Message::AskJails, RunPhase::NoRun},
    Permit{Role::MonitorOperator, Message::KillJails, RunPhase::NoRun},
    Permit{Role::MonitorOperator, Message::Drain, RunPhase::NoRun},
    Permit{Role::MonitorOperator, Message::Invites, RunPhase::NoRun},
};

constexpr bool is_permitted(Role role, Message message, RunPhase phase) {
  for (const Permit& row : kPermits)
    if (row.role == role && row.message == message && row.phase == phase) return true;
  return false;
}

static_assert(!is_permitted(Role::Api, Message::KillJails, RunPhase::NoRun));  // a front end never kills by name
static_assert(!is_permitted(Role::MonitorReader, Message::KillJails, RunPhase::NoRun));
static_assert(!is_permitted(Role::MonitorReader, Message::Invites, RunPhase::NoRun));
static_assert(!is_permitted(Role::Ssh, Message::Open, RunPhase::Live));  // a run number is used once at a time

}  // namespace mayfly
