// mayfly serve: the service, in the foreground.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <memory>
#include <optional>

#include "jail/cli/command.h"
#include "jail/cli/folder_judge.h"
#include "jail/cli/keeper.h"
#include "jail/cli/state_option.h"

namespace mayfly {

namespace {

struct ServeOptions {
  std::string config, state;
  std::optional<std::string> ssh, http;
  bool check = false, no_cgroups = false;
};

Expected<int> check(const Settings& settings) {
  TRY(front_end_addresses(settings));
  std::printf("ok: %s\n",
              settings.source.empty() ? "no configuration file, built-in defaults" : settings.source.c_str());
  return 0;
}

// Absolute: a reload is another process. Links are followed at every reload anew.
Expected<std::string> settings_file(const ServeOptions& options, const Paths& paths) {
  if (options.config.empty()) return paths.config;
  if (options.config.starts_with('/')) return options.config;
  std::array<char, PATH_MAX> folder{};
  if (::getcwd(folder.data(), folder.size()) == nullptr) return failure("find the current folder", errno);
  return std::string(folder.data()) + "/" + options.config;
}

Expected<int> serve(const ServeOptions& options) {
  const Privilege privilege = current_privilege();
  Settings settings = TRY(load_settings(privilege, options.config));
  settings.ssh = options.ssh.value_or(settings.ssh);
  settings.http = options.http.value_or(settings.http);
  Paths paths = TRY(find_paths(privilege, options.state));
  const Programs programs = TRY(Programs::find());
  TRY(keep_apart(settings.policy.catalogue, {paths.state, paths.run, paths.runtime, programs.directory()}));
  if (options.check) return check(settings);
  set_log_threshold(settings.log_level);
  std::string file = TRY(settings_file(options, paths));
  Keeper keeper = TRY(
      Keeper::make({std::move(settings), std::move(paths), privilege, !options.no_cgroups, std::move(file)}, programs));
  return keeper.run();
}

}  // namespace

void add_serve(CLI::App& app, Command& command) {
  CLI::App* serve_app = app.add_subcommand("serve", "Run the service in the foreground: SSH and HTTP");
  const auto options = std::make_shared<ServeOptions>();
  serve_app->add_option("--config", options->config, "Configuration file");
  serve_app->add_flag("--check", options->check, "Check the configuration, print ok or what is wrong, and end");
  serve_app->add_option("--ssh", options->ssh, "ADDR:PORT to listen on for SSH, or off (127.0.0.1:2222)");
  serve_app->add_option("--http", options->http, "ADDR:PORT to listen on for HTTP, or off (127.0.0.1:8802)");
  serve_app->add_flag("--no-cgroups", options->no_cgroups, "Do not use control groups, as on a host without; reported");
  add_state_option(serve_app, options->state);
  serve_app->footer(
      "Examples:\n"
      "  mayfly serve\n"
      "  mayfly serve --ssh 127.0.0.1:2022 --http off\n"
      "  mayfly serve --state ./try --ssh 127.0.0.1:0\n"
      "  mayfly serve --check --config /etc/mayfly/mayfly.jsonc\n"
      "SIGTERM or ^C ends it within 10 s, and every jail with it; a second one does not wait.");
  serve_app->callback([options, &command] { command.run = [options] { return serve(*options); }; });
}

}  // namespace mayfly
