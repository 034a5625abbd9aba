#include "jail/os/namespace_switches.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>

#include "jail/os/fd.h"

namespace mayfly {
namespace {

// A sysctl is one short line.
std::string line_of(const char* path) {
  const Fd file{::open(path, O_RDONLY | O_CLOEXEC)};
  std::array<char, 64> text;
  const ssize_t count = file ? ::read(file.get(), text.data(), text.size()) : 0;
  std::string line(text.data(), static_cast<std::size_t>(count > 0 ? count : 0));
  while (!line.empty() && line.back() == '\n') line.pop_back();
  return line;
}

}  // namespace

NamespaceSwitches NamespaceSwitches::read() {
  return {line_of("/proc/sys/user/max_user_namespaces"), line_of("/proc/sys/kernel/unprivileged_userns_clone"),
          line_of("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")};
}

std::optional<NamespaceRefusal> namespaces_refused(const NamespaceSwitches& switches, EngineUser user) {
  if (switches.most == "0")
    return NamespaceRefusal{"user.max_user_namespaces is 0: this kernel lets nobody make a user namespace",
                            "sudo sysctl -w user.max_user_namespaces=15000"};
  if (user == EngineUser::Root) return std::nullopt;  // the others bind ordinary users only
  if (switches.unprivileged == "0")
    return NamespaceRefusal{"kernel.unprivileged_userns_clone is 0: only root may make user namespaces",
                            "sudo sysctl -w kernel.unprivileged_userns_clone=1"};
  if (switches.apparmor_restricted == "1")
    return NamespaceRefusal{
        "kernel.apparmor_restrict_unprivileged_userns is 1: AppArmor takes the rights of a new user namespace",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"};
  return std::nullopt;
}

Expected<void> namespaces_not_ruled_out(const NamespaceSwitches& switches, EngineUser user) {
  NamespaceSwitches certain = switches;
  certain.apparmor_restricted.clear();
  if (const auto refusal = namespaces_refused(certain, user))
    return failure("build a jail on this host", 0, {}, refusal->text());
  return {};
}

}  // namespace mayfly
