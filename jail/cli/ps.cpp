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

template <typename Number>
std::string or_unknown(const std::optional<Number>& number, std::string (*text)(Number)) {
  return number ? text(*number) : "-";
}

std::string cpu_text(std::uint64_t microseconds) { return short_duration(microseconds / 1000); }
std::string size_text(std::uint64_t bytes) { return short_size(bytes); }
std::string count_text(std::uint64_t count) { return std::to_string(count); }

Json or_null(const std::optional<std::uint64_t>& number) { return number ? Json(*number) : Json(nullptr); }

Json row_json(const JailRow& row) {
  return {{"id", row.id},
          {"origin", std::string(name(row.origin))},
          {"profile", row.profile},
          {"principal", row.principal},
          {"peer", row.peer},
          {"phase", std::string(name(row.phase))},
          {"ageMs", row.age_ms},
          {"leftMs", row.left_ms},
          {"memoryBytes", or_null(row.memory_bytes)},
          {"memoryLimitBytes", or_null(row.memory_limit)},
          {"cpuMs", row.cpu_us ? Json(static_cast<double>(*row.cpu_us) / 1000.0) : Json(nullptr)},
          {"processes", or_null(row.processes)},
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
          or_unknown(row.cpu_us, cpu_text),
          or_unknown(row.memory_bytes, size_text) + "/" + or_unknown(row.memory_limit, size_text),
          or_unknown(row.processes, count_text),
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
      "\"-\" (null with --json): this host cannot tell, or does not limit it; \"mayfly doctor\" says why.\n\n"
      "Examples:\n"
      "  mayfly ps\n"
      "  mayfly ps --json | jq -r '.[].id'");
  ps->callback([options, &command] { command.run = [options] { return list(*options); }; });
}

}  // namespace mayfly
