#include "jail/cli/paths.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

#include "jail/os/fd.h"
#include "jail/spec/limits.h"

namespace mayfly {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

// A file of /proc, which is short.
std::string read_proc(const char* path) {
  std::array<char, 8192> bytes{};
  const Fd fd(::open(path, O_RDONLY | O_CLOEXEC));
  const ssize_t count = fd ? ::read(fd.get(), bytes.data(), bytes.size()) : -1;
  return count <= 0 ? std::string() : std::string(bytes.data(), static_cast<std::size_t>(count));
}

bool holds_capabilities() {
  const std::string status = read_proc("/proc/self/status");
  const std::size_t at = status.find("CapEff:\t");
  if (at == std::string::npos) return false;
  const std::uint64_t effective = std::strtoull(status.c_str() + at + 8, nullptr, 16);
  constexpr std::uint64_t needed =
      1ull << CAP_SYS_ADMIN | 1ull << CAP_SETUID | 1ull << CAP_SETGID | 1ull << CAP_KILL | 1ull << CAP_CHOWN;
  return (effective & needed) == needed;
}

// user_namespaces(7): every line is "inside outside count".
bool maps_our_uids(const char* map) {
  std::istringstream lines(read_proc(map));
  unsigned long inside = 0, outside = 0, count = 0;
  while (lines >> inside >> outside >> count)
    if (inside <= kApiUid && inside + count > kUidBase + kSlotsPerInstance * kUidsPerSlot) return true;
  return false;
}

// Of the file alone: getpwuid(3) would load the host's NSS libraries into a program that is linked statically.
std::string home_in_passwd(uid_t uid) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/etc/passwd", "re"), std::fclose);
  while (const passwd* const entry = file ? ::fgetpwent(file.get()) : nullptr)
    if (entry->pw_uid == uid && entry->pw_dir != nullptr && entry->pw_dir[0] == '/') return entry->pw_dir;
  return {};
}

Expected<std::string> home_directory() {
  if (const std::string home = environment("HOME"); !home.empty() && home[0] == '/') return home;
  // Under cron and systemd there is often none.
  if (std::string home = home_in_passwd(::geteuid()); !home.empty()) return home;
  return failure("find home directory", 0, {},
                 "HOME is not set and this user has no entry: set it, or name a directory with --state");
}

Expected<std::string> xdg(const char* variable, const char* below_home) {
  if (const std::string named = environment(variable); !named.empty() && named[0] == '/') return named + "/mayfly";
  return TRY(home_directory()) + below_home + "/mayfly";
}

std::string runtime_directory() {
  if (const std::string named = environment("XDG_RUNTIME_DIR"); !named.empty() && named[0] == '/')
    return named + "/mayfly";
  return "/tmp/mayfly-" + std::to_string(::geteuid());
}

Expected<std::string> absolute(std::string path) {
  if (!path.empty() && path[0] == '/') return path;
  std::array<char, PATH_MAX> here{};
  if (::getcwd(here.data(), here.size()) == nullptr) return failure("find the working directory", errno);
  return std::string(here.data()) + "/" + path;
}

}  // namespace

// Asked by every part of a start, and does not change while we run.
Privilege current_privilege() {
  static const bool root = ::geteuid() == 0 && holds_capabilities() && maps_our_uids("/proc/self/uid_map") &&
                           maps_our_uids("/proc/self/gid_map");
  return root ? Privilege::Root : Privilege::Rootless;
}

Expected<Paths> find_paths(Privilege privilege, std::string state) {
  Paths paths;
  paths.runtime = privilege == Privilege::Root ? "/run/mayfly" : runtime_directory();
  constexpr const char* kRootState = "/var/lib/mayfly";
  if (privilege == Privilege::Root && state == kRootState) state.clear();  // named, and the usual one
  if (!state.empty()) {
    paths.state = TRY(absolute(std::move(state)));
    paths.run = paths.state + "/run";
    paths.state_was_named = true;
  } else {
    paths.state = privilege == Privilege::Root ? kRootState : TRY(xdg("XDG_STATE_HOME", "/.local/state"));
    paths.run = paths.runtime;
  }
  if (privilege == Privilege::Root)
    paths.config = "/etc/mayfly/mayfly.jsonc";
  else if (auto directory = xdg("XDG_CONFIG_HOME", "/.config"))
    paths.config = *directory + "/mayfly.jsonc";
  return paths;
}

Expected<void> make_directory(const std::string& path, unsigned mode) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    const std::string parent = path.substr(0, at);
    if (::mkdir(parent.c_str(), 0755) != 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
      return failure("make directory", errno, parent);
  }
  if (::mkdir(path.c_str(), mode) == 0) {
    if (::chmod(path.c_str(), mode) != 0) return failure("set mode of directory", errno, path);  // whatever the umask
    return {};
  }
  if (errno != EEXIST) return failure("make directory", errno, path);
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return failure("look at directory", errno, path);
  if (!S_ISDIR(found.st_mode)) return failure("use directory", ENOTDIR, path);
  if (found.st_uid != ::geteuid() || (found.st_mode & 022) != 0)
    return failure("use directory", 0, path,
                   "it belongs to another user, or others may write to it; name one of your own");
  return {};
}

}  // namespace mayfly
