// mayfly kill: ends jails of a running service, by id or by principal.
#include <cstdio>
#include <memory>

#include "jail/cli/command.h"
#include "jail/cli/monitor_client.h"
#include "jail/cli/state_option.h"
#include "jail/spec/escape.h"

namespace mayfly {

namespace {

struct KillOptions {
  std::string state, target;
};

Expected<int> kill(const KillOptions& options) {
  MonitorClient service = TRY(connect_to_service(options.state));
  const Killed killed = TRY(service.ask<Killed>(KillJails{options.target}));
  if (killed.count == 0)
    return failure("kill", 0, escape(options.target, 80), "no live jail has this id or principal; see \"mayfly ps\"");
  std::printf("killed: %u\n", killed.count);
  return 0;
}

}  // namespace

void add_kill(CLI::App& app, Command& command) {
  CLI::App* kill_app = app.add_subcommand("kill", "End a jail, or every jail of a principal");
  const auto options = std::make_shared<KillOptions>();
  add_state_option(kill_app, options->state);
  kill_app->add_option("target", options->target, "Id of a jail (j_...), or a principal")->required();
  kill_app->footer(
      "Examples:\n"
      "  mayfly kill j_2x5hq3e7mz4k6nb3w5ydc7fa2q\n"
      "  mayfly kill anonymous@192.0.2.7");
  kill_app->callback([options, &command] { command.run = [options] { return kill(*options); }; });
}

}  // namespace mayfly
