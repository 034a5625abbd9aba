// The words of the enums that are not big enough for a file of their own.
#include <array>

#include "jail/spec/phase.h"
#include "jail/spec/request.h"
#include "jail/spec/step.h"

namespace mayfly {

std::string_view name(OriginKind kind) {
  switch (kind) {
    case OriginKind::Ssh:
      return "ssh";
    case OriginKind::Api:
      return "api";
    case OriginKind::Cli:
      return "cli";
  }
  return "unknown";
}

std::string_view name(Phase phase) {
  static constexpr std::array<std::string_view, 8> kNames = {"queued", "building", "gated",    "running",
                                                             "ending", "closed",   "recorded", "released"};
  const auto index = static_cast<std::size_t>(phase);
  return index < kNames.size() ? kNames[index] : "unknown";
}

std::string_view name(Step step) {
  static constexpr std::array<std::string_view, kStepCount> kNames = {
      "None",           "JoinNetwork", "MakeRoot",    "CopyTrees",  "Clone",      "MapIds",     "FitRoot",
      "RaiseLoopback",  "EnterCgroup", "AwaitIds",    "BecomeInit", "PlaceTrees", "MountProc",  "MountDevpts",
      "SealNamespaces", "PivotRoot",   "MakeStreams", "LockInit",   "Fork",       "NewSession", "WriteFiles",
      "SetLimits",      "BecomeRun",   "Landlock",    "Filter",     "Gate",       "Execute"};
  static_assert(kNames.back() == "Execute");
  const auto index = static_cast<std::size_t>(step);
  return index < kNames.size() ? kNames[index] : "unknown";
}

}  // namespace mayfly
