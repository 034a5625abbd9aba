// mayfly invite: codes that let their bearers in over SSH for a while. The service makes them and keeps a digest only.
#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <memory>

#include "jail/cli/command.h"
#include "jail/cli/monitor_client.h"
#include "jail/cli/state_option.h"
#include "jail/cli/table.h"
#include "jail/cli/units_text.h"

namespace mayfly {

namespace {

struct InviteOptions {
  std::string state, name, profile = "run", expires = "24h", host;
  std::uint32_t count = 1, uses = 0;
  bool csv = false, json = false;
  std::string revoked;
};

// What a guest needs beside the code.
struct Door {
  std::string host, port, fingerprint;
};

tm utc(std::uint64_t unix_ms) {
  const auto seconds = static_cast<std::time_t>(unix_ms / 1000);
  tm parts{};
  ::gmtime_r(&seconds, &parts);
  return parts;
}

std::string for_programs(std::uint64_t unix_ms) {
  const tm parts = utc(unix_ms);
  std::array<char, 40> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string for_people(std::uint64_t unix_ms) {
  const tm parts = utc(unix_ms);
  std::array<char, 40> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M", &parts)};
}

// Where the service listens on every address of the host, only the operator knows under which name it is reached.
Expected<Door> door_of(const Status& status, const std::string& named) {
  const std::size_t colon = status.ssh.rfind(':');
  if (colon == std::string::npos)
    return failure("make an invite", 0, "ssh", "the service does not listen for SSH (--ssh off)");
  Door door{status.ssh.substr(0, colon), status.ssh.substr(colon + 1), status.host_key};
  if (door.host.starts_with('[')) door.host = door.host.substr(1, door.host.size() - 2);
  const bool is_any = door.host == "0.0.0.0" || door.host == "::";
  if (!named.empty())
    door.host = named;
  else if (is_any)
    return failure(
        "make an invite", 0, "--host",
        "the service listens on every address; say under which name guests reach it, as in --host ssh.example");
  return door;
}

std::string ssh_line(const Door& door, const std::string& profile) {
  const std::string port = door.port == "22" ? "" : "-p " + door.port + " ";
  return "ssh " + port + profile + "@" + door.host;
}

Json row_json(const InviteRow& row, const Door& door) {
  return {{"name", row.name},
          {"profile", row.profile},
          {"code", row.code},
          {"expires", for_programs(row.expires_unix_ms)},
          {"uses", row.uses_left ? Json(*row.uses_left) : Json(nullptr)},
          {"ssh", ssh_line(door, row.profile)},
          {"fingerprint", door.fingerprint}};
}

// Names, profiles and codes have no comma or quote (jail/supervisor/invites.h); --host is judged here.
void print_csv(const std::vector<InviteRow>& rows, const Door& door) {
  std::printf("name,profile,code,expires,ssh,fingerprint\n");
  for (const InviteRow& row : rows)
    std::printf("%s,%s,%s,%s,%s,%s\n", row.name.c_str(), row.profile.c_str(), row.code.c_str(),
                for_programs(row.expires_unix_ms).c_str(), ssh_line(door, row.profile).c_str(),
                door.fingerprint.c_str());
}

void print_for_people(const std::vector<InviteRow>& rows, const Door& door) {
  for (const InviteRow& row : rows) {
    const std::string uses = row.uses_left ? std::to_string(*row.uses_left) + " logins" : "any number of logins";
    std::printf("%s\n  %s\n  code: %s   (until %s UTC, %s)\n", row.name.c_str(), ssh_line(door, row.profile).c_str(),
                row.code.c_str(), for_people(row.expires_unix_ms).c_str(), uses.c_str());
  }
  std::printf("host key: %s\n", door.fingerprint.c_str());
}

bool is_host_name(const std::string& host) {
  return !host.empty() && host.size() <= 255 && host[0] != '-' && std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == ':' || c == '_';
  });
}

Expected<int> make(const InviteOptions& options) {
  if (options.name.empty())
    return failure("make an invite", 0, "--name",
                   "is needed: for whom is it? As in --name ana, or --name class --count 30");
  if (!options.host.empty() && !is_host_name(options.host))
    return failure("make an invite", 0, "--host", "a name or an address is needed");
  NewInvites order{options.name, options.profile, TRY(parse_duration_ms(options.expires)), options.count, {}};
  if (order.for_ms < 1000 || order.for_ms > kLongestInviteMs)
    return failure("make an invite", 0, "--expires", "allowed are 1s..366d, got " + options.expires);
  if (options.uses != 0) order.uses = options.uses;
  MonitorClient service = TRY(connect_to_service(options.state));
  const Door door = TRY(door_of(TRY(service.ask<Status>(AskStatus{})), options.host));
  const std::vector<InviteRow> rows = TRY(service.invites(order));
  if (options.csv) {
    print_csv(rows, door);
  } else if (options.json) {
    Json list = Json::array();
    for (const InviteRow& row : rows) list.push_back(row_json(row, door));
    std::printf("%s\n", (options.count == 1 ? list[0] : list).dump(2).c_str());
  } else {
    print_for_people(rows, door);
  }
  return 0;
}

Expected<int> list(const InviteOptions& options) {
  if (options.csv) return failure("list invites", 0, "--csv", "is for new ones: the codes of old ones are not known");
  MonitorClient service = TRY(connect_to_service(options.state));
  const std::vector<InviteRow> rows = TRY(service.invites(AskInvites{}));
  if (options.json) {
    Json array = Json::array();
    for (const InviteRow& row : rows)
      array.push_back({{"name", row.name},
                       {"profile", row.profile},
                       {"created", for_programs(row.created_unix_ms)},
                       {"expires", for_programs(row.expires_unix_ms)},
                       {"usesLeft", row.uses_left ? Json(*row.uses_left) : Json(nullptr)}});
    std::printf("%s\n", array.dump(2).c_str());
    return 0;
  }
  std::vector<TableRow> cells;
  for (const InviteRow& row : rows)
    cells.push_back({row.name, row.profile, for_people(row.created_unix_ms), for_people(row.expires_unix_ms),
                     row.uses_left ? std::to_string(*row.uses_left) : "any"});
  std::fputs(format_table({"NAME", "PROFILE", "MADE (UTC)", "EXPIRES (UTC)", "LOGINS LEFT"}, cells).c_str(), stdout);
  return 0;
}

Expected<int> revoke(const InviteOptions& options) {
  MonitorClient service = TRY(connect_to_service(options.state));
  const Revoked revoked = TRY(service.ask<Revoked>(RevokeInvite{options.revoked}));
  std::printf("revoked: %s; jails ended: %u\n", options.revoked.c_str(), revoked.jails);
  return 0;
}

void add_list_and_revoke(CLI::App* invite, const std::shared_ptr<InviteOptions>& options, Command& command) {
  CLI::App* list_app = invite->add_subcommand("list", "Those that can still be used, without their codes");
  list_app->fallthrough();
  list_app->callback([options, &command] { command.run = [options] { return list(*options); }; });
  CLI::App* revoke_app = invite->add_subcommand("revoke", "Take one back, and end what came in by it");
  revoke_app->fallthrough();
  revoke_app->add_option("NAME", options->revoked, "Whose")->required();
  revoke_app->callback([options, &command] { command.run = [options] { return revoke(*options); }; });
}

}  // namespace

void add_invite(CLI::App& app, Command& command) {
  CLI::App* invite = app.add_subcommand("invite", "Codes that let their bearers in over SSH for a while");
  const auto options = std::make_shared<InviteOptions>();
  invite->add_option("--name", options->name, "For whom; in a class the first part of the names");
  invite->add_option("--profile", options->profile, "The SSH user name that it is for: run, python, ...");
  invite->add_option("--expires", options->expires, "How long it is good, like 90m, 8h or 7d (24h)");
  invite->add_option("--uses", options->uses, "How many logins (any number)")->check(CLI::Range(1u, 1'000'000u));
  invite->add_option("--count", options->count, "How many, numbered: class-01, class-02, ...")
      ->check(CLI::Range(1u, kMostInvitesAtOnce));
  invite->add_option("--host", options->host, "Under which name guests reach this host, for the ssh line");
  CLI::Option* csv = invite->add_flag("--csv", options->csv, "As a table for a spreadsheet or a mail merge");
  invite->add_flag("--json", options->json, "As a JSON object, or an array of several")->excludes(csv);
  add_state_option(invite, options->state);
  CLI::App* fresh = invite->add_subcommand("new", "Make one, or several; the same as without a word");
  fresh->fallthrough();
  add_list_and_revoke(invite, options, command);
  invite->require_subcommand(0, 1);
  invite->footer(
      "Examples:\n"
      "  mayfly invite --name ana --profile python --expires 8h\n"
      "  mayfly invite --name class --profile python --expires 7d --count 30 --csv > class.csv\n"
      "  mayfly invite list\n"
      "  mayfly invite revoke ana\n"
      "A code is shown once; the service keeps a digest. It needs \"invites\" in access.ssh of the configuration.");
  // CLI11 runs it after those of a subcommand, which then have chosen already.
  invite->callback([options, &command] {
    if (!command.run) command.run = [options] { return make(*options); };
  });
}

}  // namespace mayfly
