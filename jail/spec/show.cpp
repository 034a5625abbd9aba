#include "jail/spec/show.h"

#include <utility>

namespace mayfly {

std::string show(Milliseconds duration) {
  const auto ms = duration.count();
  if (ms >= 60'000 && ms % 60'000 == 0) return std::to_string(ms / 60'000) + " min";
  if (ms >= 1'000 && ms % 1'000 == 0) return std::to_string(ms / 1'000) + " s";
  return std::to_string(ms) + " ms";
}

std::string show(Bytes bytes) {
  for (const auto& [shift, unit] : {std::pair{30u, " GiB"}, std::pair{20u, " MiB"}, std::pair{10u, " KiB"}})
    if (bytes.count >> shift != 0 && (bytes.count & ((1ull << shift) - 1)) == 0)
      return std::to_string(bytes.count >> shift) + unit;
  return std::to_string(bytes.count) + " bytes";
}

}  // namespace mayfly
