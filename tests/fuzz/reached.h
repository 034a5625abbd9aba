// Reached: how far one input got. The replay compares it with what the corpus claims.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace mayfly::fuzz {

struct Reached {
  std::uint64_t keys = 0;           // key exchanges that the server ended with NEWKEYS
  std::uint64_t asked = 0;          // questions whether a login is good
  std::uint64_t logins = 0;         // USERAUTH_SUCCESS
  std::uint64_t refusals = 0;       // USERAUTH_FAILURE
  std::uint64_t channels = 0;       // opened
  std::uint64_t no_channels = 0;    // not opened
  std::uint64_t runs = 0;           // jails asked for
  std::uint64_t output = 0;         // bytes of jails, and words of ours, that the peer got
  std::uint64_t input = 0;          // bytes of the peer that jails got
  std::uint64_t statuses = 0;       // exit-status and exit-signal
  std::uint64_t closes = 0;         // channels that the server closed
  std::uint64_t signals = 0;        // for jails
  std::uint64_t resizes = 0;        // of terminals
  std::uint64_t cancels = 0;        // of jails whose peer is gone
  std::uint64_t disconnects = 0;    // a reason given at the end
  std::uint64_t unimplemented = 0;  // messages that nobody knows
  std::uint64_t no_requests = 0;    // channel and global requests that were refused
  std::uint64_t keepalives = 0;     // questions whether the peer is still there
  std::uint64_t seconds = 0;        // of the played clock
  std::uint64_t turns = 0;          // how often the session waited
};

struct NamedCount {
  std::string_view name;
  std::uint64_t Reached::*count;
};

inline constexpr std::array kReachedCounts = {
    NamedCount{"keys", &Reached::keys},
    NamedCount{"asked", &Reached::asked},
    NamedCount{"logins", &Reached::logins},
    NamedCount{"refusals", &Reached::refusals},
    NamedCount{"channels", &Reached::channels},
    NamedCount{"no_channels", &Reached::no_channels},
    NamedCount{"runs", &Reached::runs},
    NamedCount{"output", &Reached::output},
    NamedCount{"input", &Reached::input},
    NamedCount{"statuses", &Reached::statuses},
    NamedCount{"closes", &Reached::closes},
    NamedCount{"signals", &Reached::signals},
    NamedCount{"resizes", &Reached::resizes},
    NamedCount{"cancels", &Reached::cancels},
    NamedCount{"disconnects", &Reached::disconnects},
    NamedCount{"unimplemented", &Reached::unimplemented},
    NamedCount{"no_requests", &Reached::no_requests},
    NamedCount{"keepalives", &Reached::keepalives},
    NamedCount{"seconds", &Reached::seconds},
    NamedCount{"turns", &Reached::turns},
};

}  // namespace mayfly::fuzz
