#include "jail/supervisor/cgroup_kill.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "jail/os/child.h"
#include "jail/os/clock.h"
#include "jail/os/fd.h"
#include "jail/supervisor/cgroup_files.h"
#include "jail/supervisor/cgroup_group.h"

namespace mayfly {
namespace {

constexpr int kMostDepth = 8;
constexpr std::size_t kMostProcsText = 1u << 20;
constexpr std::size_t kPidfdsAtOnce = 256;  // a descriptor each; the rest come in the next round

void nap() {
  const timespec half_a_millisecond{0, 500'000};
  ::nanosleep(&half_a_millisecond, nullptr);
}

std::vector<pid_t> parse_pids(const std::string& text) {
  std::vector<pid_t> pids;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const auto number = parse_group_number(std::string_view(text).substr(at, end - at));
    // 0 is a process outside of our pid namespace; 1 and we ourselves are never members of a jail.
    if (number && *number > 1 && *number < INT32_MAX && static_cast<pid_t>(*number) != ::getpid())
      pids.push_back(static_cast<pid_t>(*number));
    at = end + 1;
  }
  return pids;
}

Expected<std::vector<pid_t>> members(int group) {
  const Fd file{::openat(group, "cgroup.procs", O_RDONLY | O_CLOEXEC)};
  if (!file) return failure("list the processes of a group", errno);
  std::string text;
  std::array<char, 4096> part;
  while (text.size() < kMostProcsText) {
    const ssize_t count = ::read(file.get(), part.data(), part.size());
    if (count < 0) return failure("read the processes of a group", errno);
    if (count == 0) break;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  return parse_pids(text);
}

}  // namespace

Expected<std::size_t> kill_members(int group) {
  std::vector<pid_t> pids = TRY(members(group));
  if (pids.empty()) return std::size_t{0};
  if (pids.size() > kPidfdsAtOnce) pids.resize(kPidfdsAtOnce);
  std::vector<std::pair<pid_t, Fd>> held;
  for (const pid_t pid : pids)
    if (Expected<Fd> pidfd = open_pidfd(pid)) held.emplace_back(pid, std::move(*pidfd));
  const std::vector<pid_t> still = TRY(members(group));
  for (const auto& [pid, pidfd] : held)
    if (std::find(still.begin(), still.end(), pid) != still.end()) signal_pidfd(pidfd, SIGKILL);
  return pids.size();
}

Expected<void> empty_group(int group, Milliseconds limit) {
  const Microseconds until = monotonic_now() + limit;
  while (TRY(kill_members(group)) != 0) {
    if (monotonic_now() > until) return failure("empty a group", ETIMEDOUT, {}, "its processes do not die");
    nap();
  }
  return {};
}

Expected<void> remove_group(CgroupDirectories& directories, int parent, const char* name, Milliseconds limit) {
  const Microseconds until = monotonic_now() + limit;
  while (directories.remove(parent, name) != 0) {
    if (errno == ENOENT) return {};
    if (errno != EBUSY || monotonic_now() > until) return failure("remove group", errno, name);
    nap();
  }
  return {};
}

Expected<std::vector<std::string>> groups_in(int group) {
  // A descriptor of its own: fdopendir(3) takes it over, and its offset is not ours.
  const int own = ::openat(group, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0) return failure("open a group for listing", errno);
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::fdopendir(own), [](DIR* d) { return ::closedir(d); });
  if (!listing) {
    const Fd leftover{own};
    return failure("list a group", errno);
  }
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (entry->d_type == DT_DIR && name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

namespace {

Expected<void> remove_tree_at(CgroupDirectories& directories, int parent, const std::string& name, Microseconds until,
                              int depth) {
  if (depth > kMostDepth) return failure("remove a group tree", ELOOP, name);
  Expected<Fd> group = open_group_directory(parent, name.c_str());
  if (!group) {
    if (group.error().error == ENOENT) return {};
    return tl::make_unexpected(group.error());
  }
  // Each is absent in some hierarchies; what counts is whether the group is empty at the end.
  write_group_file(group->get(), "pids.max", "0");
  write_group_file(group->get(), "cpu.cfs_quota_us", "-1");
  write_group_file(group->get(), "cpu.max", "max");
  write_group_file(group->get(), "cgroup.kill", "1");
  for (const std::string& child : TRY(groups_in(group->get())))
    TRY(remove_tree_at(directories, group->get(), child, until, depth + 1));
  const auto left = std::chrono::duration_cast<Milliseconds>(until - monotonic_now());
  TRY(empty_group(group->get(), left));
  return remove_group(directories, parent, name.c_str(), left);
}

}  // namespace

Expected<void> remove_group_tree(CgroupDirectories& directories, int parent, const std::string& name,
                                 Milliseconds limit) {
  return remove_tree_at(directories, parent, name, monotonic_now() + limit, 0);
}

bool is_instance_id(std::string_view text) {
  return text.size() == 12 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void add_instances(int root, std::string_view ours, std::vector<std::string>& into) {
  const Expected<std::vector<std::string>> names = groups_in(root);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!name.starts_with(kGroupPrefix)) continue;
    const std::string id = name.substr(kGroupPrefix.size());
    if (!is_instance_id(id) || id == ours || std::find(into.begin(), into.end(), id) != into.end()) continue;
    into.push_back(id);
  }
}

}  // namespace mayfly
