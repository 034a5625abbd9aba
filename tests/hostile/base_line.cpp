#include "tests/hostile/base_line.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <vector>

namespace mayfly::test {
namespace {

namespace fs = std::filesystem;

std::size_t lines_of(const std::string& path) {
  std::ifstream file(path);
  return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(file), {}, '\n'));
}

std::size_t entries_of(const std::string& path) {
  std::error_code error;
  std::size_t count = 0;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) ++count;
  return count;
}

// Below <hierarchy>/mayfly-<instance>, for v1's controllers and for v2's root.
std::size_t cgroups_of(const std::string& instance) {
  std::error_code error;
  std::size_t count = 0;
  const std::string name = "mayfly-" + instance;
  std::vector<fs::path> roots = {"/sys/fs/cgroup"};
  for (fs::directory_iterator at("/sys/fs/cgroup", error), end; !error && at != end; at.increment(error)) {
    if (at->is_directory(error)) roots.push_back(at->path());
  }
  for (const fs::path& root : roots) {
    std::error_code absent;
    for (fs::recursive_directory_iterator at(root / name, absent), end; !absent && at != end; at.increment(absent)) {
      if (at->is_directory(absent)) ++count;
    }
  }
  return count;
}

struct Process {
  pid_t parent = 0;
  char state = '?';
};

std::map<pid_t, Process> process_table() {
  std::map<pid_t, Process> all;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream stat(at->path() / "stat");
    std::string text;
    std::getline(stat, text);
    const std::size_t mark = text.rfind(')');
    if (mark == std::string::npos) continue;
    std::istringstream rest(text.substr(mark + 1));
    Process process;
    rest >> process.state >> process.parent;
    all[static_cast<pid_t>(std::stol(name))] = process;
  }
  return all;
}

bool descends_from(const std::map<pid_t, Process>& all, pid_t pid, pid_t ancestor) {
  for (int depth = 0; depth < 64; ++depth) {
    const auto at = all.find(pid);
    if (at == all.end()) return false;
    if (at->second.parent == ancestor) return true;
    pid = at->second.parent;
  }
  return false;
}

std::size_t resident_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  std::size_t whole = 0, resident = 0;
  file >> whole >> resident;
  return resident * 4096 >> 20;
}

std::size_t round_up(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

}  // namespace

BaseLine BaseLine::of(const PrivateEngine& engine) {
  BaseLine line;
  line.cgroups = cgroups_of(engine.instance());
  line.mounts = lines_of("/proc/self/mountinfo");
  const std::array ours = {engine.supervisor().pid(), engine.builder().pid(), engine.witness().pid()};
  const std::map<pid_t, Process> all = process_table();
  for (const pid_t pid : ours) {
    line.descriptors += entries_of("/proc/" + std::to_string(pid) + "/fd");
    line.resident_mib += resident_of(pid);
  }
  line.mounts += lines_of("/proc/" + std::to_string(engine.builder().pid()) + "/mountinfo");
  for (const auto& [pid, process] : all) {
    const bool related = std::any_of(ours.begin(), ours.end(), [&](pid_t own) { return descends_from(all, pid, own); });
    if (related) ++line.processes;
    if (process.state == 'Z' && (related || process.parent == ::getpid())) ++line.zombies;
  }
  line.resident_mib = round_up(line.resident_mib, 8);
  std::ifstream("/proc/sys/kernel/pty/nr") >> line.terminals;
  line.terminals = static_cast<long>(round_up(static_cast<std::size_t>(line.terminals), 64));
  return line;
}

std::string BaseLine::growth_since(const BaseLine& before) const {
  std::ostringstream text;
  const auto compare = [&text](const char* what, auto was, auto is) {
    if (is > was) text << what << ' ' << was << " -> " << is << "; ";
  };
  compare("cgroups", before.cgroups, cgroups);
  compare("mounts", before.mounts, mounts);
  compare("descriptors", before.descriptors, descriptors);
  compare("processes", before.processes, processes);
  compare("zombies", before.zombies, zombies);
  compare("resident MiB", before.resident_mib, resident_mib);
  compare("terminals", before.terminals, terminals);
  return text.str();
}

}  // namespace mayfly::test
