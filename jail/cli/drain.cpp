// mayfly drain: no new jails; the live ones go on.
#include <cstdio>
#include <memory>

#include "jail/cli/command.h"
#include "jail/cli/monitor_client.h"
#include "jail/cli/state_option.h"

namespace mayfly {

namespace {

Expected<int> drain(const std::string& state) {
  MonitorClient service = TRY(connect_to_service(state));
  TRY(service.ask<Done>(Drain{}));
  std::printf(
      "draining: no new jails until the service is stopped and started again; \"mayfly status\" shows how many are "
      "left\n");
  return 0;
}

}  // namespace

void add_drain(CLI::App& app, Command& command) {
  CLI::App* drain_app = app.add_subcommand("drain", "Accept no new jails, until a restart; the live ones go on");
  const auto state = std::make_shared<std::string>();
  add_state_option(drain_app, *state);
  drain_app->footer(
      "Examples:\n"
      "  mayfly drain\n"
      "  mayfly drain && sleep 60 && mayfly stop");
  drain_app->callback([state, &command] { command.run = [state] { return drain(*state); }; });
}

}  // namespace mayfly
