#include "jail/cli/programs.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

namespace mayfly {

namespace {

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

Expected<std::string> Programs::self() {
  std::array<char, PATH_MAX> path{};
  const ssize_t count = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (count <= 0) return failure("find this program", errno, "/proc/self/exe");
  return std::string(path.data(), static_cast<std::size_t>(count));
}

Expected<Programs> Programs::find() {
  const std::string beside = folder_of(TRY(self()));
  for (const std::string& directory : {beside, folder_of(beside) + "/libexec/mayfly"})
    if (::access((directory + "/mayfly-supervisor").c_str(), X_OK) == 0) return Programs(directory);
  return failure("find our programs", ENOENT, "mayfly-supervisor",
                 "looked in " + beside + " and " + folder_of(beside) + "/libexec/mayfly; install mayfly again");
}

Expected<std::string> Programs::path(const std::string& name) const {
  std::string path = directory_ + "/" + name;
  if (::access(path.c_str(), X_OK) != 0) return failure("find program", errno, path);
  return path;
}

std::vector<std::string> Programs::all() const {
  std::vector<std::string> found;
  if (auto own = self()) found.push_back(*own);
  for (const char* name : kHelperNames)
    if (std::string path = directory_ + "/" + name; ::access(path.c_str(), F_OK) == 0) found.push_back(std::move(path));
  return found;
}

}  // namespace mayfly
