#include "jail/supervisor/stale.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "jail/os/fd.h"
#include "jail/os/log.h"

namespace mayfly {

namespace {

constexpr std::size_t kIdLength = 12;
constexpr std::size_t kMostInstances = 4096;  // looked at in one start
constexpr std::string_view kSuffix = ".lock";

bool is_lock_name(std::string_view name) {
  return name.size() == kIdLength + kSuffix.size() && name.ends_with(kSuffix) &&
         std::all_of(name.begin(), name.begin() + kIdLength,
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::vector<std::string> instances_in(const std::string& directory) {
  std::vector<std::string> ids;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
  if (!entries) return ids;
  while (const dirent* entry = ::readdir(entries.get())) {
    if (ids.size() == kMostInstances) break;
    if (is_lock_name(entry->d_name)) ids.emplace_back(entry->d_name, kIdLength);
  }
  return ids;
}

// The lock of a dead instance; none when it lives, or was cleaned by somebody else meanwhile.
Fd lock_of_dead(const std::string& path) {
  Fd lock(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat opened {
  }, there{};
  if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return {};
  if (::fstat(lock.get(), &opened) != 0 || ::stat(path.c_str(), &there) != 0 || opened.st_ino != there.st_ino)
    return {};
  return lock;
}

}  // namespace

std::size_t clean_stale_instances(const std::string& run_directory, const std::string& own_instance,
                                  CgroupHost& groups) {
  std::size_t cleaned = 0;
  const std::string directory = run_directory + "/instances";
  for (const std::string& id : instances_in(directory)) {
    if (id == own_instance) continue;
    const std::string path = directory + "/" + id + std::string(kSuffix);
    const Fd lock = lock_of_dead(path);
    if (!lock) continue;
    if (const Expected<void> removed = groups.clean_stale(id); !removed) {
      log_line(Severity::Warning, "stale.left", {{"instance", id}, {"error", removed.error().text()}},
               "the next start tries again");
      continue;  // with its lock file, so that it is found again
    }
    ::unlink(path.c_str());
    ++cleaned;
  }
  if (cleaned > 0) log_line(Severity::Info, "stale.cleaned", {{"instances", std::to_string(cleaned)}});
  return cleaned;
}

}  // namespace mayfly
