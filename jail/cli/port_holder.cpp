// Who listens on a TCP port: the socket's inode from /proc/net/tcp (proc(5)), then whoever has it open.
#include <dirent.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>

#include "jail/cli/listeners.h"
#include "jail/spec/escape.h"

namespace mayfly {

namespace {

constexpr unsigned kListening = 0x0A;  // TCP_LISTEN, include/net/tcp_states.h

using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;

void add_listening(const char* table, unsigned port, std::set<unsigned long>& inodes) {
  std::ifstream lines(table);
  std::string line;
  std::getline(lines, line);  // headings
  while (std::getline(lines, line)) {
    // sl local:port remote:port state tx:rx tr:when retransmits uid timeout inode
    std::istringstream words(line);
    std::string slot, local, remote, skipped;
    unsigned found = 0, state = 0;
    unsigned long inode = 0;
    words >> slot >> local >> remote >> std::hex >> state >> std::dec;
    for (int i = 0; i < 5; ++i) words >> skipped;
    if (!(words >> inode) || state != kListening) continue;
    if (std::istringstream hex(local.substr(local.find(':') + 1)); hex >> std::hex >> found && found == port)
      inodes.insert(inode);
  }
}

bool holds_one(const std::string& pid, const std::set<unsigned long>& inodes) {
  const std::string folder = "/proc/" + pid + "/fd";
  const Directory entries(::opendir(folder.c_str()), ::closedir);
  if (entries == nullptr) return false;
  while (const dirent* entry = ::readdir(entries.get())) {
    std::array<char, 64> target{};
    if (::readlink((folder + "/" + entry->d_name).c_str(), target.data(), target.size() - 1) <= 0) continue;
    constexpr std::string_view prefix = "socket:[";
    unsigned long inode = 0;
    if (!std::string_view(target.data()).starts_with(prefix)) continue;
    const char* number = target.data() + prefix.size();
    if (std::from_chars(number, target.data() + target.size(), inode).ec == std::errc{} && inodes.contains(inode))
      return true;
  }
  return false;
}

std::string command_of(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/comm");
  std::string name;
  std::getline(file, name);
  return escape(name, 40);
}

}  // namespace

std::string port_holder(const TcpAddress& address) {
  std::set<unsigned long> inodes;
  add_listening("/proc/net/tcp", address.port, inodes);
  add_listening("/proc/net/tcp6", address.port, inodes);
  if (inodes.empty()) return {};
  const Directory processes(::opendir("/proc"), ::closedir);
  if (processes == nullptr) return {};
  while (const dirent* entry = ::readdir(processes.get())) {
    const std::string pid = entry->d_name;
    if (pid.find_first_not_of("0123456789") == std::string::npos && holds_one(pid, inodes))
      return "pid " + pid + " (" + command_of(pid) + ")";
  }
  return {};
}

}  // namespace mayfly
