// The known switches of a kernel that keep it from making user namespaces, without which there is no jail at all.
// For whoever has to explain that the engine does not start: `mayfly doctor`, `run`, `serve`.
#pragma once

#include <optional>
#include <string>

#include "jail/expected.h"

namespace mayfly {

// Texts of the kernel; empty where a file does not exist. Tests hand in others.
struct NamespaceSwitches {
  std::string most;                 // /proc/sys/user/max_user_namespaces
  std::string unprivileged;         // /proc/sys/kernel/unprivileged_userns_clone (Debian, Ubuntu)
  std::string apparmor_restricted;  // /proc/sys/kernel/apparmor_restrict_unprivileged_userns (Ubuntu)
  static NamespaceSwitches read();
};

struct NamespaceRefusal {
  std::string cause, fix;  // fix: one command
  [[nodiscard]] std::string text() const { return cause + "; to change that: " + fix; }
};

enum class EngineUser : bool { Ordinary, Root };

// Nothing when none of them is off; there may be other reasons.
std::optional<NamespaceRefusal> namespaces_refused(const NamespaceSwitches& switches, EngineUser user);

// For whoever starts an engine: fails, with cause and fix, where one of the switches leaves no way at all. AppArmor's
// is not among these: a profile may lift it (etc/apparmor), so that only a failed attempt shows that it matters.
Expected<void> namespaces_not_ruled_out(const NamespaceSwitches& switches, EngineUser user);

}  // namespace mayfly
