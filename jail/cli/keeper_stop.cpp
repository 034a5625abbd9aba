// How the keeper ends: every jail first, then everybody.
#include <dirent.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

#include "jail/cli/keeper.h"
#include "jail/os/log.h"

namespace mayfly {

namespace {

constexpr Milliseconds kPatience = 8500_ms;    // the supervisor takes kStopLimit at most
static_assert(kPatience + 1500_ms <= 10_s);    // promised: gone within 10 s
constexpr Milliseconds kLastChance = 1500_ms;  // after a SIGKILL to everybody

// The parent of a process: the second field after the name in /proc/PID/stat (proc(5)).
pid_t parent_of(const char* pid) {
  std::ifstream file(std::string("/proc/") + pid + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return 0;
  std::istringstream fields(text.substr(end_of_name + 1));
  char state = 0;
  pid_t parent = 0;
  return fields >> state >> parent ? parent : 0;
}

}  // namespace

void Keeper::begin_stop() {
  const bool had_supervisor = supervisor_.child.has_value();
  mode_ = Mode::Stopping;
  log_line(Severity::Info, "keeper.stopping", {{"instance", instance_.id()}});
  if (!had_supervisor || !tell(KeeperSays::Stop, nullptr, 0, -1)) signal_others(SIGTERM);
  loop_.after(kPatience, [this] { hurry(); });
  reap();  // nothing may be left already
}

void Keeper::hurry() {
  status_ = 1;
  log_line(Severity::Warning, "keeper.killing", {{"instance", instance_.id()}}, "what has not ended is killed");
  if (supervisor_.child) (void)supervisor_.child->signal(SIGKILL);
  signal_others(SIGKILL);
  kill_children();
  loop_.after(kLastChance, [this] {
    log_line(Severity::Error, "keeper.leftovers", {},
             "some processes could not be killed; the next start removes them");
    loop_.stop();
  });
  reap();
}

// Every child of ours, the adopted ones included. None of them can be somebody else: only we reap them, so their pids
// are not given to others meanwhile.
void Keeper::kill_children() const {
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(::opendir("/proc"), ::closedir);
  if (processes == nullptr) return;
  while (const dirent* entry = ::readdir(processes.get())) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9' || parent_of(entry->d_name) != ::getpid()) continue;
    ::kill(static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10)), SIGKILL);
  }
}

void Keeper::give_up(const Failure& why) {
  failure_ = why;
  if (mode_ != Mode::Stopping) begin_stop();
  hurry();
}

}  // namespace mayfly
