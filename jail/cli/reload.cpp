// mayfly reload: a running service reads its configuration anew.
#include <csignal>
#include <cstdio>
#include <ctime>
#include <memory>

#include "jail/cli/command.h"
#include "jail/cli/instance.h"
#include "jail/cli/monitor_client.h"
#include "jail/cli/state_option.h"
#include "jail/os/child.h"
#include "jail/os/clock.h"

namespace mayfly {

namespace {

constexpr Milliseconds kLimit = 10_s;
constexpr timespec kBetweenLooks{0, 20'000'000};

Expected<int> reload(const std::string& state) {
  const Paths paths = TRY(find_paths(current_privilege(), state));
  const std::optional<Holder> holder = TRY(holder_of(paths.state));
  if (!holder)
    return failure("reload", 0, paths.state,
                   "no service is running on this directory; name its directory with --state");
  MonitorClient service = TRY(connect_to_service(state));
  const Status before = TRY(service.ask<Status>(AskStatus{}));
  TRY(signal_pidfd(holder->pidfd, SIGHUP));
  const Microseconds until = monotonic_now() + kLimit;
  while (monotonic_now() < until) {
    const Expected<Status> asked = service.ask<Status>(AskStatus{});
    if (!asked || asked->started_unix_ms != before.started_unix_ms)
      return failure("reload", 0, {}, "the service is just being started anew; run \"mayfly reload\" again");
    const Status& now = *asked;
    if (now.reloads_refused != before.reloads_refused)
      return failure("reload", 0, {},
                     "the configuration was refused, the old one goes on; the log of the service says why");
    if (now.reloads != before.reloads) {
      std::printf("reloaded: process %d, instance %s%s\n", holder->pid, holder->instance.c_str(),
                  now.restart_needed.empty() ? "" : ("; only a restart changes: " + now.restart_needed).c_str());
      return 0;
    }
    ::nanosleep(&kBetweenLooks, nullptr);
  }
  return failure("reload", ETIMEDOUT, "process " + std::to_string(holder->pid), "see the log of the service");
}

}  // namespace

void add_reload(CLI::App& app, Command& command) {
  CLI::App* reload_app = app.add_subcommand("reload", "A running service reads its configuration anew");
  const auto state = std::make_shared<std::string>();
  add_state_option(reload_app, *state);
  reload_app->footer(
      "Limits, limits of principals, the length of the queue and profiles count for every jail from then on; live "
      "jails\n"
      "keep theirs. Everything else needs a restart; access, host, require, madeAhead, log and the folders of profiles "
      "are\nnamed where they differ.\nThe file of authorized keys is looked at for every login anyway. A configuration "
      "with a mistake "
      "changes nothing.\n\n"
      "Examples:\n"
      "  mayfly reload\n"
      "  systemctl reload mayfly");
  reload_app->callback([state, &command] { command.run = [state] { return reload(*state); }; });
}

}  // namespace mayfly
