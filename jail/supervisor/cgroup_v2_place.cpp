// Enabling controllers below a v2 group, where the kernel forbids a group with controllers for its children to have
// processes of its own ("no internal processes"; the real root excepted).
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>

#include "jail/supervisor/cgroup_files.h"
#include "jail/supervisor/cgroup_v2.h"

namespace mayfly {
namespace {

constexpr int kMostMoves = 20;  // processes of ours may begin and end while we move the others
constexpr int kMostAncestors = 64;

bool has_name(std::string_view list, std::string_view name) {
  for (std::size_t at = list.find(name); at != std::string_view::npos; at = list.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool starts = at == 0 || list[at - 1] == ' ';
    const bool ends = end == list.size() || list[end] == ' ' || list[end] == '\n';
    if (starts && ends) return true;
  }
  return false;
}

// Fourth field of /proc/<pid>/stat; the second is in parentheses and may hold anything. Nothing: there is no such
// process any more, or it is hidden from us.
std::optional<pid_t> parent_of(pid_t pid) {
  const Expected<std::string> stat = read_group_file(AT_FDCWD, ("/proc/" + std::to_string(pid) + "/stat").c_str());
  if (!stat) return std::nullopt;
  const std::size_t close = stat->rfind(')');
  if (close == std::string::npos || close + 4 >= stat->size()) return std::nullopt;
  pid_t parent = 0;
  std::from_chars(stat->data() + close + 4, stat->data() + stat->size(), parent);
  return parent;
}

enum class Emptied { Yes, Unsure, OthersInside, Refused };

// Moves our processes out of `base` into its leaf, but only when there is nobody else: else it would not help. Unsure:
// some had ended, or are hidden; whether they are still there shows at the next try.
Emptied move_ours(const V2Place& place, int base, CgroupDirectories& directories) {
  const Expected<std::string> text = read_group_file(base, "cgroup.procs");
  if (!text) return Emptied::Refused;
  std::vector<std::string> pids;
  bool all_known = true;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    std::string pid = text->substr(at, end - at);
    const auto number = parse_group_number(pid);
    if (!number || *number > INT32_MAX) return Emptied::OthersInside;
    const Whose whose = whose_is(static_cast<pid_t>(*number));
    if (whose == Whose::Others) return Emptied::OthersInside;
    if (whose == Whose::Ours) pids.push_back(std::move(pid));
    all_known = all_known && whose == Whose::Ours;
    at = end + 1;
  }
  if (!all_known) return Emptied::Unsure;  // moving may be for nothing
  if (directories.make(base, place.leaf.c_str()) != 0 && errno != EEXIST) return Emptied::Refused;
  const std::string procs = place.leaf + "/cgroup.procs";
  for (const std::string& pid : pids) {
    const Expected<void> moved = write_group_file(base, procs.c_str(), pid);
    if (!moved && moved.error().error != ESRCH) return Emptied::Refused;
  }
  return Emptied::Yes;
}

std::string shown(const V2Place& place) { return place.mount_point + place.path; }

NotHere others_inside(const V2Place& place) {
  if (::geteuid() != 0)
    return {"other processes run in our control group " + shown(place) + ", so nothing can be limited below it",
            "systemd-run --user --scope -p Delegate=yes mayfly ..."};
  const std::string at = shown(place);
  return {"other processes run in the control group " + at + ", so nothing can be limited below it",
          "mkdir -p " + at + "/init && for p in $(cat " + at + "/cgroup.procs); do echo $p > " + at +
              "/init/cgroup.procs; done"};
}

NotHere not_delegated(const V2Place& place, int error) {
  if (error == EROFS) return {shown(place) + " is mounted read-only", "mount -o remount,rw " + place.mount_point};
  return {"the control group " + shown(place) + " is not delegated to us: " + std::strerror(error),
          "systemd-run --user --scope -p Delegate=yes mayfly ... (or run as root)"};
}

NotHere not_available(const V2Place& place, const std::string& controller) {
  if (place.path.empty())
    return {"cgroup v2 does not offer the " + controller + " controller here",
            "boot without cgroup_disable=" + controller + ", and with systemd.unified_cgroup_hierarchy=1"};
  return {"the " + controller + " controller is not delegated to " + shown(place),
          "mkdir -p /etc/systemd/system/user@.service.d && printf '[Service]\\nDelegate=cpu memory pids\\n' > "
          "/etc/systemd/system/user@.service.d/delegate.conf && systemctl daemon-reload (then log in again)"};
}

}  // namespace

// Ours: the keeper (our parent) and whatever descends from it.
Whose whose_is(pid_t pid) {
  const pid_t keeper = ::getppid();
  for (int i = 0; i < kMostAncestors && pid > 1; ++i) {
    if (pid == keeper || pid == ::getpid()) return Whose::Ours;
    const std::optional<pid_t> parent = parent_of(pid);
    if (!parent) return Whose::Unknown;
    pid = *parent;
  }
  return Whose::Others;
}

V2Enabled enable_controllers(const V2Place& place, int base, CgroupDirectories& directories) {
  V2Enabled enabled;
  const std::string offered = read_group_file(base, "cgroup.controllers").value_or("");
  const auto enable = [&](const std::string& name, bool& is_on, NotHere& why) {
    if (!has_name(offered, name)) {
      why = not_available(place, name);
      return;
    }
    is_on = has_name(read_group_file(base, "cgroup.subtree_control").value_or(""), name);
    for (int i = 0; i < kMostMoves && !is_on; ++i) {
      const Expected<void> written = write_group_file(base, "cgroup.subtree_control", "+" + name);
      is_on = written.has_value();
      if (is_on) return;
      why = not_delegated(place, written.error().error);
      if (written.error().error != EBUSY) return;
      const Emptied emptied = move_ours(place, base, directories);
      if (emptied == Emptied::OthersInside || emptied == Emptied::Unsure) why = others_inside(place);
      if (emptied == Emptied::OthersInside || emptied == Emptied::Refused) return;
      if (emptied == Emptied::Unsure) ::poll(nullptr, 0, i);  // what is ending is in there until it has ended
    }
  };
  enable("memory", enabled.memory, enabled.missing[0]);
  enable("cpu", enabled.cpu, enabled.missing[1]);
  enable("pids", enabled.pids, enabled.missing[2]);
  return enabled;
}

}  // namespace mayfly
