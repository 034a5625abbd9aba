#include "jail/cli/folder_judge.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
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

bool is_trusted(uid_t owner) { return owner == 0 || owner == ::geteuid(); }

// In a directory with the sticky bit only an entry's owner can exchange it.
Expected<void> judge_parent(const std::string& whole, const std::string& parent, const std::string& child) {
  const struct stat status = TRY(look(whole, parent));
  const bool others_write = (status.st_mode & 022) != 0;
  const bool keeps_entries = (status.st_mode & S_ISVTX) != 0 && is_trusted(TRY(look(whole, child)).st_uid);
  if ((others_write && !keeps_entries) || !is_trusted(status.st_uid))
    return wrong(whole, "another user could put something else in its place: " + escape(parent, 200) +
                            " has to belong to root or to the service's user, and only its owner may write to it");
  return {};
}

using Identity = std::pair<dev_t, ino_t>;

// Of `path` and each directory above it. Whatever it is called: through links, "..", or another mount of it.
std::vector<Identity> way_up(const std::filesystem::path& path) {
  std::vector<Identity> found;
  for (std::filesystem::path at = path;; at = at.parent_path()) {
    struct stat status {};
    if (::stat(at.c_str(), &status) == 0) found.emplace_back(status.st_dev, status.st_ino);
    if (at == at.parent_path()) return found;
  }
}

bool has(const std::vector<Identity>& way, const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 &&
         std::count(way.begin(), way.end(), Identity(status.st_dev, status.st_ino)) != 0;
}

bool are_apart(const std::string& folder, const std::string& own) {
  std::error_code unknown;  // then the path as it is
  std::filesystem::path plain = std::filesystem::weakly_canonical(own, unknown);
  if (unknown) plain = own;
  if (!plain.has_filename()) plain = plain.parent_path();
  return !has(way_up(plain), folder) && !has(way_up(folder), plain.string());
}

}  // namespace

std::string identity_of_folder(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  return std::to_string(major(status.st_dev)) + ":" + std::to_string(minor(status.st_dev)) + " " +
         std::to_string(status.st_ino);
}

Expected<void> keep_apart(const Catalogue& catalogue, const std::vector<std::string>& ours) {
  for (const Profile& profile : catalogue.profiles())
    for (const std::string& folder : {profile.seed, profile.readonly})
      for (const std::string& own : ours)
        if (!folder.empty() && !own.empty() && !are_apart(folder, own))
          return failure("show folder to jails", 0, "profiles." + profile.name,
                         escape(folder, 200) + " and " + escape(own, 200) + ", which is the service's, are not apart");
  return {};
}

Expected<void> judge_folder(const std::string& path) {
  if (!is_spelt_plainly(path)) return wrong(path, "an absolute path is needed, like /srv/class/exercise");
  if (path.size() > kMostBytes) return wrong(path, "is longer than " + std::to_string(kMostBytes) + " bytes");
  if (is_of_the_kernel(path)) return wrong(path, "is not for jails; allowed is nothing in /proc, /sys, /dev and /run");
  for (auto slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    TRY(judge_parent(path, path.substr(0, slash), path.substr(0, path.find('/', slash + 1))));
  const struct stat status = TRY(look(path, path));
  const bool readable = ::geteuid() == 0 ? (status.st_mode & 05) == 05 : ::access(path.c_str(), R_OK | X_OK) == 0;
  if (!readable) return wrong(path, "programs in jails run under ids of their own and cannot read it; chmod o+rx");
  return {};
}

}  // namespace mayfly
