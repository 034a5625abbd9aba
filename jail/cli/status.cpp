// mayfly status: how a running service is.
#include <cstdio>
#include <ctime>
#include <memory>

#include "jail/cli/command.h"
#include "jail/cli/monitor_client.h"
#include "jail/cli/state_option.h"
#include "jail/cli/table.h"

namespace mayfly {

namespace {

struct StatusOptions {
  std::string state;
  bool json = false;
};

std::uint64_t age_ms(std::uint64_t started_unix_ms) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const auto now_ms =
      static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
  return now_ms > started_unix_ms ? now_ms - started_unix_ms : 0;
}

Json status_json(const Status& status) {
  return {{"instance", status.instance},
          {"version", status.version},
          {"startedUnixMs", status.started_unix_ms},
          {"draining", status.draining},
          {"live", status.live},
          {"queued", status.queued},
          {"unreleased", status.unreleased},
          {"built", status.built},
          {"refused", status.refused},
          {"failed", status.failed},
          {"leaks", status.leaks},
          {"cgroups", status.cgroups},
          {"root", status.root},
          {"ssh", status.ssh},
          {"http", status.http},
          {"reloads", status.reloads},
          {"reloadsRefused", status.reloads_refused},
          {"restartNeeded", status.restart_needed},
          {"hostKey", status.host_key}};
}

Expected<int> show(const StatusOptions& options) {
  MonitorClient service = TRY(connect_to_service(options.state));
  const Status status = TRY(service.ask<Status>(AskStatus{}));
  if (options.json) {
    std::printf("%s\n", status_json(status).dump(2).c_str());
    return 0;
  }
  std::printf("mayfly %s, instance %s, up %s%s\n", status.version.c_str(), status.instance.c_str(),
              short_duration(age_ms(status.started_unix_ms)).c_str(), status.draining ? ", draining" : "");
  std::printf("ssh: %s; http: %s\n", status.ssh.c_str(), status.http.c_str());
  if (!status.restart_needed.empty())
    std::printf("configuration: only a restart changes %s\n", status.restart_needed.c_str());
  std::printf("jails: %u live, %u queued, %u not yet released\n", status.live, status.queued, status.unreleased);
  std::printf("since the start: %llu built, %llu refused, %llu failed, %llu leaks\n",
              static_cast<unsigned long long>(status.built), static_cast<unsigned long long>(status.refused),
              static_cast<unsigned long long>(status.failed), static_cast<unsigned long long>(status.leaks));
  std::printf("cgroups: %s; runs as %s\n", status.cgroups.c_str(), status.root ? "root" : "an ordinary user");
  return 0;
}

}  // namespace

void add_status(CLI::App& app, Command& command) {
  CLI::App* status = app.add_subcommand("status", "How a running service is");
  const auto options = std::make_shared<StatusOptions>();
  add_state_option(status, options->state);
  status->add_flag("--json", options->json, "As a JSON object");
  status->footer(
      "Examples:\n"
      "  mayfly status\n"
      "  mayfly status --json\n"
      "Exit status: 1 when no service answers.");
  status->callback([options, &command] { command.run = [options] { return show(*options); }; });
}

}  // namespace mayfly
