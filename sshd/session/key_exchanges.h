// KeyExchanges: whether a peer has new keys made for nothing. Each exchange costs a signature and two curve operations,
// and libssh has lost memory in them (CVE-2025-8277). One that follows on kBytesForOne, whichever way they went, pays
// for itself: a client whose RekeyLimit is that or more is served at any speed. The others are counted, kMostAtOnce and
// one more each kEvery. Pure; time is passed in (monotonic).
#pragma once

#include <algorithm>
#include <cstdint>

#include "jail/spec/units.h"

namespace mayfly {

namespace key_exchange {
using namespace literals;
inline constexpr std::uint64_t kBytesForOne = 128 * 1024;  // more than the packets of an exchange can have
inline constexpr int kMostAtOnce = 32;
inline constexpr Milliseconds kEvery = 1_s;
}  // namespace key_exchange

class KeyExchanges {
 public:
  explicit KeyExchanges(Microseconds now) : counted_from_(now) {}

  // `made` and `bytes`: since the connection began; bytes of payload, both ways.
  void look(std::uint64_t made, std::uint64_t bytes, Microseconds now) {
    if (made == made_) return;
    if (needless_ == 0) counted_from_ = now;
    const std::uint64_t paid = std::min(made - made_, (bytes - bytes_) / key_exchange::kBytesForOne);
    needless_ += static_cast<std::int64_t>(made - made_ - paid);
    made_ = made;
    bytes_ = bytes;
    const std::int64_t forgiven = std::min<std::int64_t>(needless_, (now - counted_from_) / key_exchange::kEvery);
    needless_ -= forgiven;
    counted_from_ += key_exchange::kEvery * forgiven;
  }

  [[nodiscard]] bool are_too_many() const { return needless_ > key_exchange::kMostAtOnce; }

 private:
  std::uint64_t made_ = 0;
  std::uint64_t bytes_ = 0;
  std::int64_t needless_ = 0;
  Microseconds counted_from_;
};

}  // namespace mayfly
