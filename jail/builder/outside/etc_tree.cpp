#include "jail/builder/outside/etc_tree.h"

#include <dirent.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <string>
#include <string_view>

#include "jail/builder/mounting.h"

namespace mayfly {

namespace {

struct EtcFile {
  const char* name;
  std::string_view text;
};

// No uid 0 exists inside; its line is there because programs print the owner of files (all of /usr is nobody's).
constexpr std::array kFiles = {
    EtcFile{"passwd",
            "root:x:0:0:root:/:/usr/sbin/nologin\n"
            "init:x:999:999:init:/:/usr/sbin/nologin\n"
            "run:x:1000:1000:run:/home/run:/bin/sh\n"
            "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
    EtcFile{"group", "root:x:0:\ninit:x:999:\nrun:x:1000:\nnogroup:x:65534:\n"},
    EtcFile{"hosts", "127.0.0.1\tlocalhost mayfly\n::1\tlocalhost mayfly\n"},
    EtcFile{"hostname", "mayfly\n"},
    EtcFile{"nsswitch.conf",
            "passwd: files\ngroup: files\nshadow: files\nhosts: files\nnetworks: files\n"
            "protocols: files\nservices: files\n"},
    EtcFile{"timezone", "Etc/UTC\n"},
    EtcFile{"resolv.conf", ""},  // there is no network; absent, resolvers would try 127.0.0.1 and wait
};

struct EtcLink {
  const char* name;
  const char* target;
};
constexpr std::array kLinks = {EtcLink{"localtime", "/usr/share/zoneinfo/Etc/UTC"},
                               EtcLink{"mtab", "/proc/self/mounts"}, EtcLink{"os-release", "../usr/lib/os-release"}};

Expected<void> write_file(int etc, const char* name, std::string_view text) {
  const Fd file(::openat(etc, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0444));
  if (!file) return failure("make file of /etc", errno, name);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = ::write(file.get(), text.data() + done, text.size() - done);
    if (count <= 0) return failure("write file of /etc", errno, name);
    done += static_cast<std::size_t>(count);
  }
  return {};
}

// The loader's cache names libraries only. Without it programs start all the same, more slowly.
Expected<void> copy_loader_cache(int etc) {
  const Fd source(::open("/etc/ld.so.cache", O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!source || ::fstat(source.get(), &status) != 0) return {};
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  const ssize_t count = ::pread(source.get(), bytes.data(), bytes.size(), 0);
  if (count != status.st_size) return {};
  return write_file(etc, "ld.so.cache", bytes);
}

// Most links are manual pages; their names tell before one is read.
bool is_manual(std::string_view name) { return name.ends_with(".gz"); }
bool is_wanted(std::string_view target) { return target.starts_with("/usr/") && !is_manual(target); }

// Symlinks only, and only those into /usr; manual pages are left out.
Expected<void> copy_alternatives(int etc) {
  if (::mkdirat(etc, "alternatives", 0755) != 0) return failure("make directory of /etc", errno, "alternatives");
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/etc/alternatives"), ::closedir);
  if (!folder) return {};
  while (const dirent* entry = ::readdir(folder.get())) {
    if (is_manual(entry->d_name)) continue;
    char target[PATH_MAX];
    const ssize_t length = ::readlinkat(::dirfd(folder.get()), entry->d_name, target, sizeof target - 1);
    if (length <= 0) continue;
    target[length] = '\0';
    if (!is_wanted(target)) continue;
    const std::string name = std::string("alternatives/") + entry->d_name;
    if (::symlinkat(target, etc, name.c_str()) != 0) return failure("copy alternative", errno, entry->d_name);
  }
  return {};
}

}  // namespace

Expected<Fd> make_etc_tree() {
  const Fd context(::fsopen("tmpfs", FSOPEN_CLOEXEC));
  if (!context) return failure("open tmpfs for /etc", errno);
  set_option(context.get(), "mode", "0755");
  set_option(context.get(), "size", "8m");
  Fd etc = finish_mount(context.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (!etc) return failure("mount tmpfs for /etc", errno);
  for (const EtcFile& file : kFiles) TRY(write_file(etc.get(), file.name, file.text));
  for (const EtcLink& link : kLinks)
    if (::symlinkat(link.target, etc.get(), link.name) != 0) return failure("make link of /etc", errno, link.name);
  TRY(copy_loader_cache(etc.get()));
  TRY(copy_alternatives(etc.get()));
  return etc;
}

}  // namespace mayfly
