#include "jail/spec/controls.h"

namespace mayfly {

namespace {

constexpr std::array<std::string_view, kControlCount> kControlNames = {
    "network", "filesystem", "environment", "identity", "privileges", "syscalls", "files",
    "memory",  "cpu",        "processes",   "time",     "output",     "proc"};

constexpr std::array<std::string_view, 15> kMeasuredNames = {
    "absent",  "unlimited", "none",      "ephemeral", "cleared", "user-namespace", "user-namespace-shared-uid",
    "seccomp", "landlock",  "cgroup-v1", "cgroup-v2", "rlimit",  "supervisor",     "witness",
    "private"};
static_assert(static_cast<std::size_t>(Measured::Private) + 1 == kMeasuredNames.size());

}  // namespace

std::string_view name(Control control) {
  const auto index = static_cast<std::size_t>(control);
  return index < kControlNames.size() ? kControlNames[index] : "unknown";
}

std::string_view name(Measured word) {
  const auto index = static_cast<std::size_t>(word);
  return index < kMeasuredNames.size() ? kMeasuredNames[index] : "unknown";
}

std::optional<Control> control_named(std::string_view word) {
  for (const Control control : kAllControls)
    if (name(control) == word) return control;
  return std::nullopt;
}

std::optional<Measured> measured_named(std::string_view word) {
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(Measured::Private); ++i)
    if (name(static_cast<Measured>(i)) == word) return static_cast<Measured>(i);
  return std::nullopt;
}

ControlSet default_requirements() {
  ControlSet required;
  for (const Control control : kAllControls)
    if (control != Control::Memory && control != Control::Cpu && control != Control::Files && control != Control::Proc)
      required.add(control);
  return required;
}

bool Controls::is_present(Control c) const {
  const Measured measured = at(c);
  return measured != Measured::Absent && measured != Measured::Unlimited;
}

std::optional<Control> Controls::first_missing(ControlSet required) const {
  for (const Control control : kAllControls)
    if (required.has(control) && !is_present(control)) return control;
  return std::nullopt;
}

}  // namespace mayfly
