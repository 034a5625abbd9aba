#include "jail/builder/inside/execute.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mayfly {

namespace {

constexpr std::array kPath = {"/usr/local/bin/", "/usr/bin/", "/bin/"};
constexpr std::size_t kMostName = 255;  // NAME_MAX

bool goes_on(int error) { return error == ENOENT || error == ENOTDIR || error == EACCES; }

}  // namespace

int execute(const Texts& texts) {
  const char* name = texts.argv[0];
  char* const* argv = texts.argv.data();
  char* const* environment = texts.environment.data();
  if (std::strchr(name, '/') != nullptr) {
    ::execve(name, argv, environment);
    return errno;
  }
  const std::size_t length = std::strlen(name);
  if (length == 0) return ENOENT;
  if (length > kMostName) return ENAMETOOLONG;
  int error = ENOENT;
  for (const char* folder : kPath) {
    char path[32 + kMostName];
    const std::size_t folder_length = std::strlen(folder);
    // NOLINTNEXTLINE(bugprone-not-null-terminated-result): the name brings the NUL
    std::memcpy(path, folder, folder_length);
    std::memcpy(path + folder_length, name, length + 1);
    ::execve(path, argv, environment);
    if (!goes_on(errno)) return errno;
    if (errno == EACCES) error = EACCES;
  }
  return error;
}

}  // namespace mayfly
