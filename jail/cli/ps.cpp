// mayfly ps: the live jails of a running service.
#include <cstdio>
#include <memory>

#include "jail/cli/command.h"
#include "jail/cli/monitor_client.h"
#include "jail/cli/state_option.h"
#include "jail/cli/table.h"

namespace mayfly {

namespace {

struct PsOptions {
  std::string state;
  bool json = false;
};

Json row_json(const JailRow& row) {
  return {{"id", row.id},
          {"origin", std::string(name(row.origin))},
          {"profile", row.profile},
          {"principal", row.principal},
          {"peer", row.peer},
          {"phase", std::string(name(row.phase))},
          {"ageMs", row.age_ms},
          {"leftMs", row.left_ms},
          {"memoryBytes", row.memory_bytes},
          {"memoryLimitBytes", row.memory_limit},
          {"cpuMs", static_cast<double>(row.cpu_us) / 1000.0},
          {"processes", row.processes},
          {"pid", row.pid},
          {"command", row.command}};
}

TableRow row_cells(const JailRow& row) {
  return {row.id,
          row.profile,
          row.principal,
          std::string(name(row.phase)),
          short_duration(row.age_ms),
          short_duration(row.left_ms),
          short_duration(row.cpu_us / 1000),
          short_size(row.memory_bytes) + "/" + short_size(row.memory_limit),
          std::to_string(row.processes),
          row.command};
}

Expected<int> list(const PsOptions& options) {
  MonitorClient service = TRY(connect_to_service(options.state));
  const std::vector<JailRow> rows = TRY(service.jails());
  if (options.json) {
    Json list = Json::array();
    for (const JailRow& row : rows) list.push_back(row_json(row));
    std::printf("%s\n", list.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return 0;
  }
  std::vector<TableRow> cells;
  for (const JailRow& row : rows) cells.push_back(row_cells(row));
  const TableRow headings = {"ID", "PROFILE", "PRINCIPAL", "PHASE", "AGE", "LEFT", "CPU", "MEMORY", "PROCS", "COMMAND"};
  std::fputs(format_table(headings, cells).c_str(), stdout);
  return 0;
}

}  // namespace

void add_ps(CLI::App& app, Command& command) {
  CLI::App* ps = app.add_subcommand("ps", "The live jails of a running service");
  const auto options = std::make_shared<PsOptions>();
  add_state_option(ps, options->state);
  ps->add_flag("--json", options->json, "As a JSON array");
  ps->footer(
      "Examples:\n"
      "  mayfly ps\n"
      "  mayfly ps --json | jq -r '.[].id'");
  ps->callback([options, &command] { command.run = [options] { return list(*options); }; });
}

}  // namespace mayfly
