// Controls: the thirteen enforced restrictions of one jail, as measured on it (design section 6).
// A report is never copied from a configuration: whoever makes a Controls value has looked.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mayfly {

// Order is the order of the JSON object.
enum class Control : std::uint8_t {
  Network,
  Filesystem,
  Environment,
  Identity,
  Privileges,
  Syscalls,
  Files,
  Memory,
  Cpu,
  Processes,
  Time,
  Output,
  Proc,
};
inline constexpr std::size_t kControlCount = 13;

inline constexpr std::array<Control, kControlCount> kAllControls = {
    Control::Network,  Control::Filesystem, Control::Environment, Control::Identity, Control::Privileges,
    Control::Syscalls, Control::Files,      Control::Memory,      Control::Cpu,      Control::Processes,
    Control::Time,     Control::Output,     Control::Proc};

// The words a control can report. `Absent` and `Unlimited` mean that it is not there.
enum class Measured : std::uint8_t {
  Absent,                  // "absent"
  Unlimited,               // "unlimited"
  None,                    // "none": no network, no privileges
  Ephemeral,               // "ephemeral": filesystem
  Cleared,                 // "cleared": environment
  UserNamespace,           // "user-namespace"
  UserNamespaceSharedUid,  // "user-namespace-shared-uid": rootless
  Seccomp,                 // "seccomp"
  Landlock,                // "landlock"
  CgroupV1,                // "cgroup-v1"
  CgroupV2,                // "cgroup-v2"
  Rlimit,                  // "rlimit"
  Supervisor,              // "supervisor"
  Witness,                 // "witness"
  Private,                 // "private": proc
};

std::string_view name(Control control);
std::string_view name(Measured word);
std::optional<Control> control_named(std::string_view word);
std::optional<Measured> measured_named(std::string_view word);

// A set of controls, for `require`.
class ControlSet {
 public:
  constexpr ControlSet() = default;
  constexpr void add(Control c) { bits_ = static_cast<std::uint16_t>(bits_ | (1u << static_cast<unsigned>(c))); }
  [[nodiscard]] constexpr bool has(Control c) const { return (bits_ >> static_cast<unsigned>(c) & 1u) != 0; }
  constexpr ControlSet& operator|=(ControlSet other) {
    bits_ = static_cast<std::uint16_t>(bits_ | other.bits_);
    return *this;
  }
  friend constexpr bool operator==(ControlSet, ControlSet) = default;

 private:
  std::uint16_t bits_ = 0;
};

// All but memory, cpu, files and proc.
ControlSet default_requirements();

struct Controls {
  std::array<Measured, kControlCount> values{};  // all Absent until measured

  [[nodiscard]] Measured at(Control c) const { return values[static_cast<std::size_t>(c)]; }
  void set(Control c, Measured m) { values[static_cast<std::size_t>(c)] = m; }
  // Whether the control restricts anything. "none" for the network is a restriction; "unlimited" memory is not.
  [[nodiscard]] bool is_present(Control c) const;
  // The first required control that is missing. `Rlimit` satisfies processes.
  [[nodiscard]] std::optional<Control> first_missing(ControlSet required) const;
  friend bool operator==(const Controls&, const Controls&) = default;
};

}  // namespace mayfly
