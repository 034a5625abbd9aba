// What a jail is made of that can be made before it is known: its network namespace and its root. Empty, never used,
// each for exactly one jail and gone with it ("made ahead" in the glossary; performance.md).
// Owner: builder. Side: outside.
#pragma once

#include <array>
#include <utility>

#include "jail/builder/outside/network_parts.h"
#include "jail/builder/outside/root_part.h"
#include "jail/spec/limits.h"

namespace mayfly {

struct Parts {
  NetworkPart network;
  RootPart root;
  [[nodiscard]] bool is_complete() const { return network.network && root.tree; }
};

class PartsAhead {
 public:
  [[nodiscard]] bool is_full() const { return count_ == kept_.size(); }
  [[nodiscard]] bool is_empty() const { return count_ == 0; }
  void add(Parts parts) { kept_[count_++] = std::move(parts); }
  Parts take() { return std::move(kept_[--count_]); }

 private:
  std::array<Parts, kPartsAhead> kept_{};
  std::uint32_t count_ = 0;
};

}  // namespace mayfly
