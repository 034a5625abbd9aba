#include "jail/builder/faults.h"

#ifdef MAYFLY_FAULTS

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace mayfly {

namespace {

constexpr std::array<std::pair<std::string_view, Layer>, 19> kLayers = {{
    {"landlock", Layer::Landlock},  {"filter", Layer::Filter},      {"devpts", Layer::Devpts},
    {"pids", Layer::Cgroup},        {"caps", Layer::Capabilities},  {"nnp", Layer::NoNewPrivs},
    {"proc", Layer::Proc},          {"network", Layer::Network},    {"environment", Layer::Environment},
    {"limits", Layer::Limits},      {"root-size", Layer::RootSize}, {"root-inodes", Layer::RootInodes},
    {"read-only", Layer::ReadOnly}, {"masks", Layer::Masks},        {"ids", Layer::IdMap},
    {"group0", Layer::Group0},      {"group1", Layer::Group1},      {"group2", Layer::Group2},
    {"group3", Layer::Group3},
}};

[[noreturn]] void refuse(std::string_view argument) {
  std::fprintf(stderr, "mayfly-builder-faulty: not a fault: %.*s\n", static_cast<int>(argument.size()),
               argument.data());
  ::_exit(2);
}

Step step_named(std::string_view word) {
  for (std::uint8_t i = 1; i < kStepCount; ++i)
    if (name(static_cast<Step>(i)) == word) return static_cast<Step>(i);
  return Step::None;
}

}  // namespace

Faults Faults::from_arguments(int count, char** arguments) {
  Faults faults;
  if (count < 2) return faults;
  const std::string_view text = arguments[1];
  if (text.starts_with("fail:")) {
    const auto colon = text.rfind(':');
    faults.step = step_named(text.substr(5, colon > 5 ? colon - 5 : 0));
    faults.error = std::atoi(arguments[1] + colon + 1);
    if (faults.step == Step::None || faults.error <= 0) refuse(text);
    return faults;
  }
  if (!text.starts_with("weaken:")) refuse(text);
  for (const auto& [word, layer] : kLayers)
    if (text.substr(7) == word) faults.layer = layer;
  if (faults.layer == Layer::None) refuse(text);
  return faults;
}

}  // namespace mayfly

#endif
