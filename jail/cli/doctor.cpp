// mayfly doctor: what this host can enforce, found by building real jails and attacking them (jail/probe).
#include <cstdio>
#include <memory>

#include "jail/cli/command.h"
#include "jail/cli/config.h"
#include "jail/cli/private_engine.h"
#include "jail/probe/containment.h"

namespace mayfly {

namespace {

struct DoctorOptions {
  std::string config;
  bool json = false, no_cgroups = false;
};

Expected<int> examine_host(const DoctorOptions& options) {
  const Settings settings = TRY(load_settings(current_privilege(), options.config));
  const std::string probe = TRY(TRY(Programs::find()).path("mayfly-probe"));
  EngineOptions engine_options;
  engine_options.policy = settings.policy;
  engine_options.usr_local = settings.usr_local;
  engine_options.use_cgroups = !options.no_cgroups;
  PrivateEngine engine = TRY(PrivateEngine::start(engine_options));
  const Containment found = TRY(examine(engine.client, probe));
  TRY(engine.stop());
  const std::string text = options.json ? containment_json(found).dump(2) + "\n" : containment_text(found);
  std::fputs(text.c_str(), stdout);
  return found.is_sound() ? 0 : 1;
}

}  // namespace

void add_doctor(CLI::App& app, Command& command) {
  CLI::App* doctor = app.add_subcommand("doctor", "What this host can enforce, found by attacking jails from inside");
  const auto options = std::make_shared<DoctorOptions>();
  doctor->add_option("--config", options->config, "Configuration file");
  doctor->add_flag("--json", options->json, "As a JSON object, the same as GET /api/containment");
  doctor->add_flag("--no-cgroups", options->no_cgroups, "Examine as on a host without control groups");
  doctor->footer(
      "Examples:\n"
      "  mayfly doctor\n"
      "  mayfly doctor --json | jq .problems\n"
      "It needs no service and takes a few seconds. Exit status: 0 when everything is as it is reported, else 1.");
  doctor->callback([options, &command] { command.run = [options] { return examine_host(*options); }; });
}

}  // namespace mayfly
