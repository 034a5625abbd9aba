#include "jail/builder/faults.h"

#ifdef MAYFLY_FAULTS

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace mayfly {

namespace {

constexpr std::array<std::pair<std::string_view, Layer>, 21> kLayers = {{
    {"landlock", Layer::Landlock},  {"filter", Layer::Filter},      {"devpts", Layer::Devpts},
    {"pids", Layer::Cgroup},        {"caps", Layer::Capabilities},  {"nnp", Layer::NoNewPrivs},
    {"proc", Layer::Proc},          {"network", Layer::Network},    {"environment", Layer::Environment},
    {"limits", Layer::Limits},      {"root-size", Layer::RootSize}, {"root-inodes", Layer::RootInodes},
    {"read-only", Layer::ReadOnly}, {"masks", Layer::Masks},        {"ids", Layer::IdMap},
    {"group0", Layer::Group0},      {"group1", Layer::Group1},      {"group2", Layer::Group2},
    {"group3", Layer::Group3},      {"overlay", Layer::Overlay},    {"seed", Layer::Seed},
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

struct StepNumber {
  Step step = Step::None;
  int number = 0;
};

// "MountProc:5"
StepNumber step_number(std::string_view all, std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) refuse(all);
  const StepNumber found{step_named(text.substr(0, colon)), std::atoi(text.data() + colon + 1)};
  if (found.step == Step::None || found.number <= 0 || found.number > 4095) refuse(all);  // MAX_ERRNO; or 4 s
  return found;
}

void take(Faults& faults, std::string_view text) {
  const bool is_second = faults.step != Step::None || faults.layer != Layer::None;
  if (is_second && !text.starts_with("slow:")) refuse(text);
  if (text.starts_with("fail:")) {
    const StepNumber found = step_number(text, text.substr(5));
    faults.step = found.step;
    faults.error = found.number;
  } else if (text.starts_with("slow:")) {
    const StepNumber found = step_number(text, text.substr(5));
    faults.slow_step = found.step;
    faults.slow_ms = found.number;
  } else {
    if (!text.starts_with("weaken:")) refuse(text);
    for (const auto& [word, layer] : kLayers)
      if (text.substr(7) == word) faults.layer = layer;
    if (faults.layer == Layer::None) refuse(text);
  }
}

}  // namespace

Faults Faults::from_arguments(int count, char** arguments) {
  Faults faults;
  for (int i = 1; i < count; ++i) take(faults, arguments[i]);
  return faults;
}

int Faults::at(Step entered) const {
  if (entered == slow_step && ::usleep(static_cast<useconds_t>(slow_ms) * 1000) != 0) return errno;
  return entered == step ? error : 0;
}

}  // namespace mayfly

#endif
