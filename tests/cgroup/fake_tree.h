// A directory tree that stands for a cgroup file system: mkdir fills a group with its files, rmdir takes them away.
// What is written can be read back as it was written, which shows the protocol; what the kernel would make of it is
// shown by cgroup_kernel_test.cpp.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "jail/supervisor/cgroup.h"

namespace mayfly::test {

class FakeDirectories final : public CgroupDirectories {
 public:
  explicit FakeDirectories(std::map<std::string, std::string> files) : files_(std::move(files)) {}

  int make(int parent, const char* name) override {
    if (refuse_with != 0) return errno = refuse_with, -1;
    if (::mkdirat(parent, name, 0755) != 0) return -1;
    for (const auto& [file, text] : files_) write(parent, std::string(name) + "/" + file, text);
    // A link that is not followed: opening fails, with something else than ENOENT.
    if (!blocked_.empty() && ::unlinkat(parent, (std::string(name) + "/" + blocked_).c_str(), 0) == 0)
      if (::symlinkat("nowhere", parent, (std::string(name) + "/" + blocked_).c_str()) != 0) std::abort();
    made.emplace_back(name);
    return 0;
  }
  int remove(int parent, const char* name) override {
    if (busy_for > 0) return --busy_for, errno = EBUSY, -1;
    for (const auto& [file, text] : files_) ::unlinkat(parent, (std::string(name) + "/" + file).c_str(), 0);
    return ::unlinkat(parent, name, AT_REMOVEDIR);
  }

  void hide(const std::string& file) { files_.erase(file); }
  void block(const std::string& file) { blocked_ = file; }

  int refuse_with = 0;
  int busy_for = 0;
  std::vector<std::string> made;

 private:
  static void write(int parent, const std::string& path, const std::string& text) {
    const Fd file{::openat(parent, path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644)};
    if (::write(file.get(), text.data(), text.size()) < 0) std::abort();
  }
  std::map<std::string, std::string> files_;
  std::string blocked_;
};

class FakeTree {
 public:
  explicit FakeTree(std::map<std::string, std::string> files) {
    char name[] = "/tmp/mayfly-cgroup-XXXXXX";
    if (::mkdtemp(name) == nullptr) std::abort();
    root_ = name;
    directories_ = std::make_shared<FakeDirectories>(std::move(files));
  }
  FakeTree(const FakeTree&) = delete;
  FakeTree& operator=(const FakeTree&) = delete;
  ~FakeTree() { std::filesystem::remove_all(root_); }

  [[nodiscard]] const std::string& root() const { return root_; }
  FakeDirectories& directories() { return *directories_; }
  // A mount of the tree at root()/name with these controllers.
  CgroupSight& mount(const std::string& name, const std::string& type, const std::string& controllers) {
    std::filesystem::create_directories(root_ + "/" + name);
    sight_.mountinfo += "31 30 0:28 / " + root_ + "/" + name + " rw,relatime shared:9 - " + type + " " + type + " rw" +
                        (controllers.empty() ? "" : "," + controllers) + "\n";
    sight_.directories = directories_;
    return sight_;
  }
  CgroupSight& sight() { return sight_; }

  [[nodiscard]] std::string read(const std::string& path) const {
    std::ifstream in(root_ + "/" + path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& path, const std::string& text) const { std::ofstream(root_ + "/" + path) << text; }
  [[nodiscard]] bool exists(const std::string& path) const { return std::filesystem::exists(root_ + "/" + path); }
  // The groups of jails in a parent group.
  [[nodiscard]] std::set<std::string> groups(const std::string& path) const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(root_ + "/" + path))
      if (entry.is_directory()) names.insert(entry.path().filename());
    return names;
  }

 private:
  std::string root_;
  std::shared_ptr<FakeDirectories> directories_;
  CgroupSight sight_;
};

inline const std::map<std::string, std::string> kV1Files = {{"memory.limit_in_bytes", ""},
                                                            {"memory.memsw.limit_in_bytes", ""},
                                                            {"memory.oom_control", "oom_kill 0\n"},
                                                            {"cgroup.event_control", ""},
                                                            {"memory.usage_in_bytes", "4096\n"},
                                                            {"memory.max_usage_in_bytes", "8192\n"},
                                                            {"memory.failcnt", "3\n"},
                                                            {"pids.max", ""},
                                                            {"pids.current", "2\n"},
                                                            {"pids.events", "max 7\n"},
                                                            {"pids.peak", "5\n"},
                                                            {"cpu.cfs_quota_us", ""},
                                                            {"cpuacct.usage", "2500000\n"},
                                                            {"tasks", ""},
                                                            {"cgroup.procs", ""}};

inline const std::map<std::string, std::string> kV2Files = {
    {"cgroup.controllers", "cpu memory pids\n"},
    {"cgroup.subtree_control", ""},
    {"cgroup.procs", ""},
    {"cgroup.kill", ""},
    {"memory.max", ""},
    {"memory.swap.max", ""},
    {"memory.oom.group", ""},
    {"memory.current", "4096\n"},
    {"memory.peak", "8192\n"},
    {"memory.events", "low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\noom_group_kill 1\n"},
    {"pids.max", ""},
    {"pids.current", "2\n"},
    {"pids.events", "max 7\n"},
    {"pids.peak", "5\n"},
    {"cpu.max", ""},
    {"cpu.stat", "usage_usec 2500\nuser_usec 1\n"}};

inline constexpr const char* kInstance = "0123456789ab";
inline CgroupPlace place() { return {kInstance, HostLimits{Bytes{1u << 30}, 500, MilliCpus{1500}, 0, 0}, false}; }
inline constexpr GroupLimits kLimits{Bytes{64u << 20}, 32, MilliCpus{1000}};

}  // namespace mayfly::test
