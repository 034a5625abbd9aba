#include "jail/cli/folder_judge.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "jail/spec/escape.h"
#include "jail/wire/bind_table.h"

namespace mayfly {

namespace {

constexpr std::size_t kMostBytes = sizeof(BindEntry::source) - 1;

tl::unexpected<Failure> wrong(const std::string& path, std::string why) {
  return failure("take folder", 0, escape(path, 200), std::move(why));
}

bool is_spelt_plainly(const std::string& path) {
  if (!path.starts_with('/') || path.size() < 2 || path.ends_with('/')) return false;
  const std::string whole = path + '/';
  for (const char* part : {"//", "/./", "/../"})
    if (whole.find(part) != std::string::npos) return false;
  return true;
}

// What these hold is made by the kernel for who looks, or is a way to devices and to our own sockets.
bool is_of_the_kernel(const std::string& path) {
  for (const std::string_view top : {"/proc", "/sys", "/dev", "/run"})
    if (path == top || path.starts_with(std::string(top) + "/")) return true;
  return false;
}

Expected<struct stat> look(const std::string& whole, const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return failure("take folder", errno, escape(whole, 200));
  if (S_ISLNK(status.st_mode))
    return wrong(whole, escape(path, 200) + " is a symlink; name the directory that it leads to");
  if (!S_ISDIR(status.st_mode)) return wrong(whole, escape(path, 200) + " is no directory");
  return status;
}

Expected<void> judge_parent(const std::string& whole, const std::string& parent) {
  const struct stat status = TRY(look(whole, parent));
  const bool others_write = (status.st_mode & 022) != 0 && (status.st_mode & S_ISVTX) == 0;
  if (others_write || (status.st_uid != 0 && status.st_uid != ::geteuid()))
    return wrong(whole, "another user could put something else in its place: " + escape(parent, 200) +
                            " has to belong to root or to the service's user, and only its owner may write to it");
  return {};
}

bool is_within(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

Expected<void> keep_apart(const Catalogue& catalogue, const std::vector<std::string>& ours) {
  for (const Profile& profile : catalogue.profiles())
    for (const std::string& folder : {profile.seed, profile.readonly})
      for (const std::string& own : ours)
        if (!folder.empty() && (is_within(own, folder) || is_within(folder, own)))
          return failure("show folder to jails", 0, "profiles." + profile.name,
                         escape(folder, 200) + " and " + escape(own, 200) + ", which is the service's, are not apart");
  return {};
}

Expected<void> judge_folder(const std::string& path) {
  if (!is_spelt_plainly(path)) return wrong(path, "an absolute path is needed, like /srv/class/exercise");
  if (path.size() > kMostBytes) return wrong(path, "is longer than " + std::to_string(kMostBytes) + " bytes");
  if (is_of_the_kernel(path)) return wrong(path, "is not for jails; allowed is nothing in /proc, /sys, /dev and /run");
  for (auto slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    TRY(judge_parent(path, path.substr(0, slash)));
  const struct stat status = TRY(look(path, path));
  const bool readable = ::geteuid() == 0 ? (status.st_mode & 05) == 05 : ::access(path.c_str(), R_OK | X_OK) == 0;
  if (!readable) return wrong(path, "programs in jails run under ids of their own and cannot read it; chmod o+rx");
  return {};
}

}  // namespace mayfly
