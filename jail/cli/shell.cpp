// mayfly shell: an interactive throwaway shell (or Python, ...) in a jail of its own, with a private engine.
#include <memory>

#include "jail/cli/command.h"
#include "jail/cli/exit_status.h"
#include "jail/cli/run_command.h"

namespace mayfly {

void add_shell(CLI::App& app, Command& command) {
  CLI::App* shell = app.add_subcommand("shell", "An interactive shell in a jail of its own, gone when you leave");
  const auto options = std::make_shared<RunOptions>();
  shell->add_option("profile", options->profile, "run (a shell, the default), python, ...");
  shell->add_option("--config", options->config, "Configuration file");
  shell->footer(
      "Examples:\n"
      "  mayfly shell\n"
      "  mayfly shell python\n"
      "  echo 'print(1)' | mayfly shell python     without a terminal, standard input is the script\n"
      "Exit status: as of \"mayfly run\".");
  shell->callback([options, &command] {
    command.failure_status = kOwnFailure;
    command.run = [options] { return run_privately(*options); };
  });
}

}  // namespace mayfly
