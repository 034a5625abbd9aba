// Refusals: why connections were turned away, counted for each reason, in all and since the log last told.
// Owner: the listener. Pure bookkeeping.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>

namespace mayfly {

enum class Refusal : unsigned char {
  TooManyConnections,
  TooManyFromSource,
  EarlyDrop,
  Penalty,
  NoDescriptors,
  SessionNotStarted
};

// As they stand in the log; in the order of the enumeration.
inline constexpr std::array<std::string_view, 6> kRefusalNames = {
    "too-many-connections", "too-many-from-source", "early-drop", "penalty", "no-descriptors", "session-not-started"};

// What the peer is told, as a line before a banner (RFC 4253 section 4.2); a client shows it when it is asked to be
// verbose. No more than a stranger may know.
inline constexpr std::array<std::string_view, 6> kRefusalTexts = {
    "Too many connections, try again\r\n", "Too many connections from your address\r\n",
    "Too many connections, try again\r\n", "Not allowed at this time\r\n",
    "Too many connections, try again\r\n", "No connections now, try again\r\n"};

class RefusalCounts {
 public:
  void note(Refusal why) { ++counts_[static_cast<std::size_t>(why)]; }
  [[nodiscard]] std::uint64_t of(Refusal why) const { return counts_[static_cast<std::size_t>(why)]; }
  [[nodiscard]] std::uint64_t all() const { return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}); }

 private:
  std::array<std::uint64_t, kRefusalNames.size()> counts_{};
};

class Refusals {
 public:
  void note(Refusal why) {
    total_.note(why);
    untold_.note(why);
  }
  [[nodiscard]] const RefusalCounts& total() const { return total_; }
  [[nodiscard]] bool is_anything_untold() const { return untold_.all() != 0; }
  RefusalCounts take_untold() { return std::exchange(untold_, {}); }

 private:
  RefusalCounts total_;
  RefusalCounts untold_;
};

}  // namespace mayfly
