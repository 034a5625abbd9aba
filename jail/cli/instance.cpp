#include "jail/cli/instance.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <sstream>
#include <utility>

#include "jail/cli/paths.h"
#include "jail/os/child.h"

namespace mayfly {

namespace {

constexpr int kTries = 8;
constexpr std::string_view kLockSuffix = ".lock";

Expected<std::string> random_id() {
  std::array<unsigned char, 6> bits{};
  if (::getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size()))
    return failure("draw an instance id", errno);
  std::string id;
  for (const unsigned char byte : bits) {
    std::array<char, 3> pair{};
    std::snprintf(pair.data(), pair.size(), "%02x", byte);
    id += pair.data();
  }
  return id;
}

// A sweeper may have removed the file between our open and our flock: then it is nobody's and the lock is worthless.
bool is_still_at(const Fd& file, const std::string& path) {
  struct stat held {
  }, named{};
  return ::fstat(file.get(), &held) == 0 && ::stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

// "4711 0123456789ab\n"
std::optional<std::pair<pid_t, std::string>> read_holder(const Fd& file) {
  std::array<char, 64> text{};
  const ssize_t count = ::pread(file.get(), text.data(), text.size() - 1, 0);
  if (count <= 0) return std::nullopt;
  std::istringstream words(text.data());
  pid_t pid = 0;
  std::string instance;
  if (!(words >> pid >> instance) || pid <= 0 || instance.find_first_not_of("0123456789abcdef") != std::string::npos)
    return std::nullopt;
  return std::pair<pid_t, std::string>(pid, instance);
}

}  // namespace

Instance::Instance(Instance&& other) noexcept
    : id_(std::move(other.id_)),
      path_(std::exchange(other.path_, {})),
      lock_(std::move(other.lock_)),
      leaves_(other.leaves_) {}

Instance::~Instance() {
  if (!path_.empty() && !leaves_) ::unlink(path_.c_str());
}

Expected<Instance> Instance::claim(const std::string& runtime_directory) {
  const std::string directory = runtime_directory + "/instances";
  TRY(make_directory(runtime_directory, current_privilege() == Privilege::Root ? 0755u : 0700u));
  TRY(make_directory(directory, 0755));
  for (int attempt = 0; attempt < kTries; ++attempt) {
    std::string id = TRY(random_id());
    std::string path = directory + "/" + id + std::string(kLockSuffix);
    Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!lock && errno == EEXIST) continue;
    if (!lock) return failure("make instance lock", errno, path);
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 && is_still_at(lock, path))
      return Instance(std::move(id), std::move(path), std::move(lock));
  }
  return failure("claim an instance", EAGAIN, directory);
}

void sweep_instances(const std::string& runtime_directory) {
  const std::string directory = runtime_directory + "/instances";
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
  if (entries == nullptr) return;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    const std::size_t dot = name.find('.');
    if (dot != 12 || name.ends_with(kLockSuffix)) continue;  // locks go with the cgroups: the supervisor's to remove
    const std::string lock_path = directory + "/" + name.substr(0, dot) + std::string(kLockSuffix);
    const Fd lock(::open(lock_path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) continue;  // it lives
    if (!lock && errno != ENOENT) continue;
    ::unlink((directory + "/" + name).c_str());
  }
}

Expected<StateLock> StateLock::take(const std::string& state_directory, const std::string& instance) {
  const std::string path = state_directory + "/lock";
  Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!lock) return failure("open state lock", errno, path);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return failure("lock state directory", errno, state_directory);
    const auto holder = read_holder(lock);
    const std::string who = holder ? "process " + std::to_string(holder->first) : "another process";
    return failure("use state directory", 0, state_directory,
                   "a mayfly service (" + who +
                       ") is using it; stop that one with \"mayfly stop\", or name another "
                       "directory with --state");
  }
  const std::string text = std::to_string(::getpid()) + " " + instance + "\n";
  if (::ftruncate(lock.get(), 0) != 0 ||
      ::pwrite(lock.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    return failure("write state lock", errno, path);
  return StateLock(std::move(lock));
}

Expected<std::optional<Holder>> holder_of(const std::string& state_directory) {
  const std::string path = state_directory + "/lock";
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file && errno == ENOENT) return std::optional<Holder>();
  if (!file) return failure("open state lock", errno, path);
  const auto before = read_holder(file);
  if (!before) return std::optional<Holder>();
  auto pidfd = open_pidfd(before->first);
  if (!pidfd) return std::optional<Holder>();  // dead
  // Shared: two commands that look at the same time do not take each other for the service.
  if (::flock(file.get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) return std::optional<Holder>();
  if (read_holder(file) != before)
    return failure("find the service", EAGAIN, state_directory, "it is just changing; try again");
  return std::optional<Holder>(Holder{before->first, before->second, std::move(*pidfd)});
}

}  // namespace mayfly
