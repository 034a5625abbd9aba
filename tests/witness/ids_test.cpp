#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "stage.h"

using namespace mayfly;
using namespace mayfly::stage;

namespace {

constexpr uid_t kInit = 1'900'016'381, kRelay = 1'900'016'383;

RelayOrder as_root() {
  RelayOrder order = Jail::pipes();
  order.rootless = 0;
  order.init_uid = kInit;
  order.relay_uid = kRelay;
  return order;
}

std::string status_line(pid_t pid, const std::string& name) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(name + ":", 0) == 0) return line.substr(name.size() + 2);
  }
  return "absent";
}

}  // namespace

TEST_CASE("as root a relay has its own ids, no groups and no capabilities") {
  Witness witness;
  Jail jail(witness, as_root());
  jail.attach();
  const pid_t relay = witness.relays().at(0);
  const std::string init = std::to_string(kInit), own = std::to_string(kRelay);
  CHECK(status_line(relay, "Uid") == init + "\t" + own + "\t" + own + "\t" + own);
  CHECK(status_line(relay, "Gid") == own + "\t" + own + "\t" + own + "\t" + own);
  CHECK(status_line(relay, "Groups").find_first_of("0123456789") == std::string::npos);
  CHECK(status_line(relay, "NoNewPrivs") == "1");
  CHECK(status_line(relay, "Seccomp") == "2");
  CHECK(status_line(witness.pid(), "Seccomp") == "2");
  for (const char* set : {"CapPrm", "CapEff", "CapInh", "CapAmb"}) {
    CHECK(status_line(relay, set) == "0000000000000000");
  }
}

TEST_CASE("the relay's ids suffice to kill its jail's pid 1") {
  Witness witness;
  Jail jail(witness, as_root());
  jail.attach();
  StandIn pid_one(kInit);
  ::usleep(50'000);
  RelayMessage message;
  message.command = RelayCommand::Attach;
  jail.command(message, {pid_one.pidfd()});
  witness.supervisor.kill();
  CHECK(pid_one.dies_within(1000));
}

TEST_CASE("the relay lifts a real CPU quota before it kills") {
  const std::filesystem::path group = "/sys/fs/cgroup/cpu/mayfly-test-witness-" + std::to_string(::getpid());
  std::error_code error;
  if (!std::filesystem::create_directory(group, error)) {
    WARN("no cpu hierarchy of cgroup v1 that this test may use");
    return;
  }
  const std::filesystem::path quota = group / "cpu.cfs_quota_us";
  std::ofstream(quota) << "10000" << std::flush;
  Witness witness;
  Jail jail(witness, as_root());
  jail.attach();
  StandIn pid_one(kInit);
  Fd lift{::open(quota.c_str(), O_WRONLY | O_CLOEXEC)};
  RelayMessage message;
  message.command = RelayCommand::Attach;
  message.has_kill = 1;
  message.kill_text[0] = '-';
  message.kill_text[1] = '1';
  ::usleep(50'000);
  jail.command(message, {pid_one.pidfd(), lift.get()});
  jail.control.reset();
  CHECK(pid_one.dies_within(1000));
  std::string text;
  std::ifstream(quota) >> text;
  CHECK(text == "-1");
  std::filesystem::remove(group, error);
}

TEST_CASE("the relay's ids do not suffice to kill another jail's pid 1") {
  Witness witness;
  Jail jail(witness, as_root());
  jail.attach();
  StandIn other(kInit + 4);
  ::usleep(50'000);
  RelayMessage message;
  message.command = RelayCommand::Attach;
  jail.command(message, {other.pidfd()});
  jail.control.reset();
  CHECK(at_end_within(jail.peer_out.get(), kPatience));
  CHECK_FALSE(other.dies_within(200));
}
