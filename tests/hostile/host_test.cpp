#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "jail/os/fd.h"
#include "tests/hostile/arena.h"

using namespace mayfly;
using namespace mayfly::test;

namespace {

// Listeners of the host that no jail may reach.
struct HostListeners {
  Fd abstract{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)}, tcp{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::string name = "mayfly-test-" + std::to_string(::getpid());
  int port = 0;

  HostListeners() {
    sockaddr_un unix_name{AF_UNIX, {}};
    std::copy(name.begin(), name.end(), unix_name.sun_path + 1);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    REQUIRE(::bind(abstract.get(), reinterpret_cast<sockaddr*>(&unix_name), size) == 0);
    REQUIRE(::listen(abstract.get(), 4) == 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    REQUIRE(::bind(tcp.get(), reinterpret_cast<sockaddr*>(&address), length) == 0);
    REQUIRE(::listen(tcp.get(), 4) == 0);
    ::getsockname(tcp.get(), reinterpret_cast<sockaddr*>(&address), &length);
    port = ntohs(address.sin_port);
  }
};

// Each line "Name:\tvalue" of /proc/PID/status.
std::string status_of(const std::string& pid, const std::string& key) {
  std::ifstream file("/proc/" + pid + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key + ":", 0) != 0) continue;
    const std::size_t value = line.find_first_not_of(" \t", key.size() + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return "";
}

// proc(5): whom the kernel ends first when the host has no memory left. -1001: not to be read.
int oom_score_adj_of(const std::string& pid) {
  int score = -1001;
  std::ifstream("/proc/" + pid + "/oom_score_adj") >> score;
  return score;
}

// Pids of the host's view whose parent is `parent`.
std::vector<std::string> children_of(const std::string& parent) {
  std::vector<std::string> children;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string pid = at->path().filename();
    if (pid.find_first_not_of("0123456789") == std::string::npos && status_of(pid, "PPid") == parent)
      children.push_back(pid);
  }
  return children;
}

}  // namespace

TEST_CASE("A53 A69 sockets of the host are out of reach, by name, by path and over loopback", "[P03][P12]") {
  const HostListeners host;
  const std::vector<std::string> words = {host.name, std::to_string(host.port)};
  const OutsideRun control = arena().control({"host_sockets", words[0], words[1]});
  CHECK(control.lines.of("abstract") == "ok");
  CHECK(control.lines.of("loopback") == "ok");
  const Outcome inside = arena().attack({.program = "host_sockets", .arguments = words});
  INFO(inside.story());
  CHECK(inside.lines.of("abstract") == "ECONNREFUSED");
  CHECK(inside.lines.of("loopback") == "ECONNREFUSED");
  CHECK(inside.lines.named_with("ENOENT") ==
        "/run/dbus/system_bus_socket /run/docker.sock /run/mayfly/lease.sock /run/mayfly/monitor.sock "
        "/var/run/docker.sock");
}

TEST_CASE("A69 no route leads out, and lo is the only interface", "[P03]") {
  const Outcome inside = arena().attack({.program = "ways_out"});
  INFO(inside.story());
  CHECK(inside.lines.named_with("ENETUNREACH") == "10.0.0.1 169.254.169.254 192.0.2.1 255.255.255.255");
  CHECK(inside.lines.all("interface") == std::vector<std::string>{"lo"});
  CHECK(inside.lines.of("netlink") == "refused");
  CHECK(inside.lines.of("lo_down") == "EPERM");
}

TEST_CASE("a program can talk to itself over lo", "[P03]") {
  const Outcome inside = arena().attack({.program = "talk_to_self"});
  INFO(inside.story());
  CHECK(inside.lines.named_with("ok") == "accept bind connect listen");
}

TEST_CASE("A39 a program inherits three descriptors, its home and a closed root", "[P12]") {
  const Outcome inside = arena().attack({.program = "inherited_fds"});
  INFO(inside.story());
  CHECK(inside.lines.number("open") == 3);
  CHECK(inside.lines.number("last") == 2);
  CHECK(inside.lines.of("fd0") == "pipe");
  CHECK(inside.lines.of("fd1") == "pipe");
  CHECK(inside.lines.of("fd2") == "pipe");
  CHECK(inside.lines.of("cwd") == "/home/run");
  CHECK(inside.lines.of("root") == "closed");
}

TEST_CASE("A40 jails that start at the same time inherit nothing of each other", "[P12]") {
  const std::vector<Attack> many(12, Attack{.program = "inherited_fds"});
  for (int round = 0; round < 4; ++round) {
    for (const Outcome& inside : arena().attack_all(many)) {
      INFO(inside.story());
      CHECK(inside.lines.number("open") == 3);
      CHECK(inside.lines.number("last") == 2);
    }
  }
}

TEST_CASE("A63 the environment is exactly what the result says", "[P04]") {
  ::setenv("LD_PRELOAD", "/no/such/library.so", 1);
  ::setenv("BASH_ENV", "/tmp/evil", 1);
  const Outcome inside = arena().attack({.program = "inherited_environment"});
  ::unsetenv("LD_PRELOAD");
  ::unsetenv("BASH_ENV");
  INFO(inside.story());
  std::vector<std::string> entries = inside.lines.all("entry"), reported = inside.result.environment;
  std::sort(entries.begin(), entries.end());
  std::sort(reported.begin(), reported.end());
  CHECK(entries == reported);
  CHECK(inside.lines.number("count") == 3);
  CHECK(entries[0].rfind("HOME=/home/run", 0) == 0);
}

TEST_CASE("a program's inheritable attributes are the documented ones", "[P11]") {
  const Outcome inside = arena().attack({.program = "inherited_attributes"});
  INFO(inside.story());
  for (const char* zero : {"blocked", "ignored", "death_signal", "subreaper", "nice", "rtprio"}) {
    INFO(zero);
    CHECK(inside.lines.number(zero) == 0);
  }
  CHECK(inside.lines.number("uid") == 1000);
  CHECK(inside.lines.number("gid") == 1000);
  CHECK(inside.lines.number("parent") == 1);
  CHECK(inside.lines.number("new_privileges") == 1);
  CHECK(inside.lines.number("nofile") == 256);
  CHECK(inside.lines.number("core") <= 1);
  CHECK(inside.lines.number("memlock") <= 8 << 20);
  if (arena().as_root()) CHECK(inside.lines.number("groups") == 0);
}

TEST_CASE("A66 every task of a jail, pid 1 included, has no capability, no new privileges and a filter", "[P11]") {
  bool looked = false;
  const auto look = [&looked](EngineRuns& runs, RunNumber number) {
    if (looked || runs.run(number).out.find("begun") == std::string::npos) return;
    looked = true;
    std::vector<std::string> tasks = children_of(std::to_string(arena().engine().builder().pid()));
    for (std::size_t i = 0; i < tasks.size() && i < 100; ++i) {
      for (const std::string& child : children_of(tasks[i])) tasks.push_back(child);
    }
    CHECK(tasks.size() >= 4);  // two jails: the canary's and this one
    for (const std::string& pid : tasks) {
      INFO("task " << pid << " " << status_of(pid, "Name"));
      for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"})
        CHECK(status_of(pid, set) == "0000000000000000");
      CHECK(status_of(pid, "NoNewPrivs") == "1");
      CHECK(status_of(pid, "Seccomp") == "2");
      CHECK(oom_score_adj_of(pid) >= 800);  // D24: before anything of ours
    }
    CHECK(oom_score_adj_of("self") < 800);
    REQUIRE(runs.cancel(number));
  };
  const Outcome inside = arena().attack_while({.program = "ignores_signals"}, look);
  INFO(inside.story());
  CHECK(looked);
}

TEST_CASE("A66 a program sees its own confinement", "[P11]") {
  if (arena().as_root()) CHECK(arena().control({"own_status"}).lines.of("Seccomp") == "0");
  const Outcome inside = arena().attack({.program = "own_status"});
  INFO(inside.story());
  CHECK(inside.lines.named_with("0000000000000000") == "CapAmb CapBnd CapEff CapInh CapPrm");
  CHECK(inside.lines.of("NoNewPrivs") == "1");
  CHECK(inside.lines.of("Seccomp") == "2");
}

TEST_CASE("P05 a jail hears nothing of what others open, and flushes no file system of the host", "[P05]") {
  const OutsideRun control = arena().control({"watch_host"});
  for (const char* call : {"inotify_init1", "fcntl", "syncfs"}) CHECK(control.lines.of(call) == "ok");
  const Outcome inside = arena().attack({.program = "watch_host"});
  INFO(inside.story());
  CHECK(inside.lines.of("inotify_init1") == "ENOSYS");
  CHECK(inside.lines.of("fcntl") == "EINVAL");
  CHECK(inside.lines.of("syncfs") == "ENOSYS");
  CHECK(inside.lines.of("splice") == "EINVAL");
}

TEST_CASE("A41 /proc cannot be used to change the host", "[P11]") {
  const Outcome inside = arena().attack({.program = "proc_writes"});
  INFO(inside.story());
  CHECK(inside.lines.count() == 12);
  for (const char* path : {"/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname",
                           "/proc/sys/vm/drop_caches", "/proc/sys/fs/file-max", "/proc/sys/user/max_user_namespaces",
                           "/proc/irq/default_smp_affinity", "/proc/1/oom_score_adj"}) {
    INFO(path);
    CHECK(inside.lines.of(path) != "ok");
  }
}

TEST_CASE("A41 /proc, /sys and /dev hide what tells about the host", "[P12]") {
  const OutsideRun control = arena().control({"proc_reads"});
  CHECK(control.lines.of("/sys") == "ok");
  const Outcome inside = arena().attack({.program = "proc_reads"});
  INFO(inside.story());
  for (const char* path : {"/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug", "/proc/acpi",
                           "/proc/scsi", "/proc/kmsg", "/proc/latency_stats", "/proc/asound", "/proc/interrupts"}) {
    INFO(path);
    CHECK(inside.lines.of(path) != "ok");
  }
  for (const char* path : {"/sys", "/sys/fs/cgroup", "/sys/kernel", "/sys/firmware", "/dev/mem", "/dev/kmsg",
                           "/dev/sda", "/dev/vda", "/dev/fuse", "/dev/net/tun", "/dev/kvm"}) {
    INFO(path);
    CHECK(inside.lines.of(path) == "ENOENT");
  }
}

TEST_CASE("A43 there is no control group file system inside", "[P11]") {
  if (arena().as_root()) CHECK(arena().control({"cgroup_files"}).lines.of("sysfs") == "ok");
  const Outcome inside = arena().attack({.program = "cgroup_files"});
  INFO(inside.story());
  CHECK(inside.lines.named_with("ENOENT") == "mkdir procs release_agent sysfs");
}

TEST_CASE("A61 secrets of the host are absent, not merely unreadable", "[P12]") {
  CHECK(arena().control({"secrets"}).lines.of("/root") == "ok");
  const Outcome inside =
      arena().attack({.program = "secrets", .arguments = {std::filesystem::current_path().string()}});
  INFO(inside.story());
  CHECK(inside.lines.count() == 20);
  CHECK(inside.lines.named_with("ok") == "");
  CHECK(inside.lines.named_with("EACCES") == "");
}

TEST_CASE("A65 no path, instance or name of the host shows inside", "[P12]") {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::vector<std::string> words = {arena().engine().instance(), "mayfly-builder", "/sys/fs/cgroup",
                                          std::string(host).size() > 3 ? host : "no-such-host-name"};
  const Outcome inside = arena().attack({.program = "host_words", .arguments = words});
  INFO(inside.story());
  CHECK(inside.lines.of("host") == "mayfly");
  CHECK(inside.lines.count() == 1);
}

TEST_CASE("A65 a program sees no process but those of its own jail", "[P01]") {
  CHECK(arena().control({"processes_seen"}).lines.number("seen") == 2);
  const Outcome inside = arena().attack({.program = "processes_seen"});
  INFO(inside.story());
  if (inside.lines.of("proc").empty()) CHECK(inside.lines.number("seen") == 1);  // pid 1 is not dumpable, and so hidden
  CHECK(inside.lines.number("me") == 2);
}
