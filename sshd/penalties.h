// Penalties: sources whose connections ended badly are kept out for a while that grows with each of them and passes
// with time. What for, how long and from when on are those of PerSourcePenalties in sshd_config(5).
// One bad end refuses nobody: a source is refused once it has gathered kLeastPenalty, and then until all of it is over.
// Owner: Entrance. Pure; time is passed in (monotonic).
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "jail/spec/units.h"
#include "sshd/session_end.h"
#include "sshd/source_limits.h"

namespace mayfly {

namespace penalty {
using namespace literals;
inline constexpr Milliseconds kCrash = 90_s;
inline constexpr Milliseconds kFailedLogin = 5_s;
inline constexpr Milliseconds kNoLogin = 1_s;
inline constexpr Milliseconds kGraceExceeded = 10_s;
inline constexpr Milliseconds kMost = 600_s;
inline constexpr Milliseconds kLeast = 15_s;
// Some 200 bytes each. Whoever has more sources than this is not stopped by penalties on them.
inline constexpr std::size_t kMostSources = 4096;

// Who has logged in is not judged by how it leaves, unless it took the session down.
constexpr Milliseconds for_end(SessionEnd end, Standing standing) {
  if (end == SessionEnd::Crashed || end == SessionEnd::EndlessTurn) return kCrash;
  if (standing == Standing::Authenticated) return 0_s;
  switch (end) {
    case SessionEnd::NeverAuthenticated:
    case SessionEnd::BadProtocol:
      return kNoLogin;
    case SessionEnd::FailedLogin:
      return kFailedLogin;
    case SessionEnd::GraceExceeded:
      return kGraceExceeded;
    case SessionEnd::Served:
    case SessionEnd::OwnFailure:
    case SessionEnd::EndlessTurn:
    case SessionEnd::Crashed:
      return 0_s;
  }
  return 0_s;
}
}  // namespace penalty

class Penalties {
 public:
  explicit Penalties(std::size_t most_sources) : most_sources_(most_sources) {}

  void add(const std::string& source, Milliseconds penalty, Microseconds now);
  [[nodiscard]] bool refuses(const std::string& source, Microseconds now) const;
  [[nodiscard]] std::size_t sources() const { return by_source_.size(); }

 private:
  struct Held {
    Microseconds until;
    bool enforced = false;
  };
  using BySource = std::unordered_map<std::string, Held>;

  void forget(BySource::iterator source);
  void make_room(Microseconds now);

  std::size_t most_sources_;
  BySource by_source_;
  std::set<std::pair<Microseconds, std::string>> by_end_;  // the same ones, the first to be over first
};

}  // namespace mayfly
