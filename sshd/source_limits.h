// SourceLimits: how many connections the listener serves at once, in all and for one source, so that nobody keeps
// the others out. A class behind one address translator is one source. Owner: the listener. Pure bookkeeping.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace mayfly {

inline constexpr std::uint32_t kMostConnections = 512;
inline constexpr std::uint32_t kMostPerSource = 128;

enum class Entry : unsigned char { Admitted, Full, SourceFull };

class SourceLimits {
 public:
  SourceLimits(std::uint32_t most, std::uint32_t most_per_source) : most_(most), most_per_source_(most_per_source) {}

  Entry enter(const std::string& source);  // counts it when Admitted
  void leave(const std::string& source);   // of one that was Admitted
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  std::uint32_t most_;
  std::uint32_t most_per_source_;
  std::uint32_t count_ = 0;
  std::unordered_map<std::string, std::uint32_t> by_source_;  // only sources that have one: bounded by most_
};

}  // namespace mayfly
