// EarlyDrop: the more connections wait for a login, the likelier the next one is refused at once. A flood that comes
// from many sources would fill every place; so most of it is dropped, and somebody who tries again soon gets in. The
// rule and the order of its numbers are those of MaxStartups in sshd_config(5). Pure.
#pragma once

#include <cstdint>

namespace mayfly {

struct EarlyDrop {
  std::uint32_t start = 100;  // unauthenticated connections, of all sources: below, nobody is dropped
  std::uint32_t rate = 30;    // per cent at `start`, growing evenly
  std::uint32_t full = 300;   // from here on everybody is

  [[nodiscard]] constexpr std::uint32_t percent(std::uint32_t unauthenticated) const {
    if (unauthenticated < start) return 0;
    if (unauthenticated >= full) return 100;
    return rate + (100 - rate) * (unauthenticated - start) / (full - start);
  }

  // `random`: any of all values, each as likely as the others.
  [[nodiscard]] constexpr bool drops(std::uint32_t unauthenticated, std::uint32_t random) const {
    return random % 100 < percent(unauthenticated);
  }
};

}  // namespace mayfly
