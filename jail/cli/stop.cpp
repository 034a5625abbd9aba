// mayfly stop: ends a running service and waits until it is gone.
#include <poll.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>

#include "jail/cli/command.h"
#include "jail/cli/instance.h"
#include "jail/cli/paths.h"
#include "jail/cli/state_option.h"
#include "jail/os/child.h"

namespace mayfly {

namespace {

constexpr int kLimitMs = 12'000;  // the service promises 10 s

Expected<int> stop(const std::string& state) {
  const Paths paths = TRY(find_paths(current_privilege(), state));
  const std::optional<Holder> holder = TRY(holder_of(paths.state));
  if (!holder)
    return failure("stop the service", 0, paths.state,
                   "none is running on this directory; name its directory with --state");
  TRY(signal_pidfd(holder->pidfd, SIGTERM));
  pollfd entry{holder->pidfd.get(), POLLIN, 0};
  int ready = 0;
  do ready = ::poll(&entry, 1, kLimitMs);
  while (ready < 0 && errno == EINTR);
  if (ready <= 0)
    return failure("stop the service", ETIMEDOUT, "process " + std::to_string(holder->pid),
                   "it was asked and is still there; run \"mayfly stop\" again, which hurries it");
  std::printf("stopped: process %d, instance %s\n", holder->pid, holder->instance.c_str());
  return 0;
}

}  // namespace

void add_stop(CLI::App& app, Command& command) {
  CLI::App* stop_app = app.add_subcommand("stop", "End a running service and every jail of it, and wait for that");
  const auto state = std::make_shared<std::string>();
  add_state_option(stop_app, *state);
  stop_app->footer(
      "Examples:\n"
      "  mayfly stop\n"
      "  mayfly stop --state ./try");
  stop_app->callback([state, &command] { command.run = [state] { return stop(*state); }; });
}

}  // namespace mayfly
