// SourceLimits: how many connections the listener serves at once, in all and for one source, so that nobody keeps
// the others out. A class behind one address translator is one source and fits; the part of its places that peers may
// hold who have not logged in is smaller, because these cost them nothing.
// A source is what Peer::source says: an IPv4 address, also when it came in as IPv6, or an IPv6 /64.
// Owner: Entrance. Pure bookkeeping.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace mayfly {

struct Places {
  std::uint32_t all = 512;
  std::uint32_t of_source = 128;                 // authenticated or not
  std::uint32_t of_source_unauthenticated = 64;  // of these
};

enum class Standing : unsigned char { Unauthenticated, Authenticated };
enum class Entry : unsigned char { Admitted, Full, SourceFull };

class SourceLimits {
 public:
  explicit SourceLimits(Places places) : places_(places) {}

  Entry enter(const std::string& source);                    // Admitted: counted, as unauthenticated
  void authenticated(const std::string& source);             // one that was counted is now counted as the other kind
  void leave(const std::string& source, Standing standing);  // of one that is counted so
  [[nodiscard]] bool has_authenticated(const std::string& source) const;
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::uint32_t unauthenticated() const { return unauthenticated_; }

 private:
  struct Held {
    std::uint32_t all = 0;
    std::uint32_t unauthenticated = 0;
  };

  Places places_;
  std::uint32_t count_ = 0;
  std::uint32_t unauthenticated_ = 0;
  std::unordered_map<std::string, Held> by_source_;  // only sources that have one: bounded by Places::all
};

}  // namespace mayfly
