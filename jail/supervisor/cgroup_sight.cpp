#include "jail/supervisor/cgroup_sight.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "jail/supervisor/measure_mounts.h"

namespace mayfly {
namespace {

constexpr std::size_t kMostText = 4u << 20;  // a mount table of some ten thousand lines

Expected<std::string> read_all(const char* path) {
  const Fd file{::open(path, O_RDONLY | O_CLOEXEC)};
  if (!file) return failure("open", errno, path);
  std::string text;
  std::array<char, 16384> part;
  while (text.size() < kMostText) {
    const ssize_t count = ::read(file.get(), part.data(), part.size());
    if (count < 0) return failure("read", errno, path);
    if (count == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  return failure("read", EFBIG, path);
}

// Where `path`, as /proc shows it, is below the mount of `root`.
std::string below_mount(std::string_view path, std::string_view root) {
  if (root == "/") return path == "/" ? std::string() : std::string(path);
  if (path == root || !path.starts_with(root) || path[root.size()] != '/') return {};
  return std::string(path.substr(root.size()));
}

std::vector<Hierarchy> hierarchies(const CgroupSight& sight, std::string_view type) {
  std::vector<Hierarchy> found;
  std::string_view text = sight.mountinfo;
  MountLine line;
  while (next_mount(text, line)) {
    if (line.type != type) continue;
    Hierarchy one;
    one.mount_point = unescape_mount(line.mount_point);
    one.mount_root = unescape_mount(line.root);
    one.read_only = has_word(line.options, "ro") || has_word(line.super_options, "ro");
    one.memory = has_word(line.super_options, "memory");
    one.pids = has_word(line.super_options, "pids");
    one.cpu = has_word(line.super_options, "cpu");
    one.cpuacct = has_word(line.super_options, "cpuacct");
    found.push_back(std::move(one));
  }
  return found;
}

const char* any_controller(const Hierarchy& one) {
  if (one.memory) return "memory";
  if (one.pids) return "pids";
  return one.cpu ? "cpu" : "cpuacct";
}

}  // namespace

int CgroupDirectories::make(int parent, const char* name) { return ::mkdirat(parent, name, 0755); }
int CgroupDirectories::remove(int parent, const char* name) { return ::unlinkat(parent, name, AT_REMOVEDIR); }

Expected<CgroupSight> CgroupSight::of_this_process() {
  CgroupSight sight;
  sight.mountinfo = TRY(read_all("/proc/self/mountinfo"));
  sight.self_cgroup = TRY(read_all("/proc/self/cgroup"));
  sight.directories = std::make_shared<CgroupDirectories>();
  return sight;
}

std::vector<Hierarchy> v1_hierarchies(const CgroupSight& sight) {
  std::vector<Hierarchy> of_use;
  Hierarchy seen;  // a hierarchy may be mounted several times; the first mount of a controller counts
  for (Hierarchy& one : hierarchies(sight, "cgroup")) {
    if (!one.is_of_use()) continue;
    const bool again = (one.memory && seen.memory) || (one.pids && seen.pids) || (one.cpu && seen.cpu) ||
                       (one.cpuacct && seen.cpuacct);
    if (again) continue;
    seen.memory |= one.memory, seen.pids |= one.pids, seen.cpu |= one.cpu, seen.cpuacct |= one.cpuacct;
    one.own_path = below_mount(group_of(sight.self_cgroup, any_controller(one)), one.mount_root);
    of_use.push_back(std::move(one));
  }
  return of_use;
}

std::vector<Hierarchy> v2_hierarchies(const CgroupSight& sight) {
  std::vector<Hierarchy> found = hierarchies(sight, "cgroup2");
  if (found.size() > 1) found.resize(1);
  for (Hierarchy& one : found) one.own_path = below_mount(group_of(sight.self_cgroup, ""), one.mount_root);
  return found;
}

std::string_view group_of(std::string_view text, std::string_view controller) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second != std::string_view::npos) {
      const std::string_view list = line.substr(first + 1, second - first - 1);
      const bool matches = controller.empty() ? list.empty() && line.starts_with("0:") : has_word(list, controller);
      if (matches) return line.substr(second + 1);
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace mayfly
