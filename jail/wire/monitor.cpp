#include "jail/wire/monitor.h"

#include <limits>

#include "jail/spec/escape.h"

namespace mayfly {

namespace {

constexpr std::uint64_t kAny = std::numeric_limits<std::int64_t>::max();

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

Json row_json(const JailRow& row) {
  Json object = {{"id", row.id},
                 {"profile", row.profile},
                 {"principal", row.principal},
                 {"peer", row.peer},
                 {"command", row.command},
                 {"origin", name(row.origin)},
                 {"phase", name(row.phase)},
                 {"ageMs", row.age_ms},
                 {"leftMs", row.left_ms},
                 {"pid", row.pid}};
  const auto put = [&](const char* key, const std::optional<std::uint64_t>& number) {
    if (number) object[key] = *number;
  };
  put("memoryBytes", row.memory_bytes);
  put("memoryLimit", row.memory_limit);
  put("cpuUs", row.cpu_us);
  put("processes", row.processes);
  return object;
}

template <typename Enum>
Expected<Enum> enum_from(JsonReader& in, const char* key, unsigned count) {
  const std::string word = TRY(in.text(key, 20));
  for (unsigned i = 0; i < count; ++i)
    if (name(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
  return failure("read field", 0, in.path(key), "unknown word");
}

Expected<JailRow> row_from(const Json& object) {
  JsonReader in(object, "jails");
  JailRow row;
  row.id = TRY(in.text("id", 40));
  row.profile = TRY(in.text("profile", 64));
  row.principal = TRY(in.text("principal", 255));
  row.peer = TRY(in.text("peer", 128));
  row.command = TRY(in.text("command", 1000));
  row.origin = TRY(enum_from<OriginKind>(in, "origin", 3));
  row.phase = TRY(enum_from<Phase>(in, "phase", 8));
  row.age_ms = TRY(in.number("ageMs", 0, kAny));
  row.left_ms = TRY(in.number("leftMs", 0, kAny));
  row.memory_bytes = TRY(in.optional_number("memoryBytes", 0, kAny));
  row.memory_limit = TRY(in.optional_number("memoryLimit", 0, kAny));
  row.cpu_us = TRY(in.optional_number("cpuUs", 0, kAny));
  row.processes = TRY(in.optional_number("processes", 0, kAny));
  row.pid = static_cast<std::int32_t>(TRY(in.number("pid", 0, INT32_MAX)));
  TRY(in.finish());
  return row;
}

Json status_json(const Status& status) {
  return {{"say", "status"},
          {"instance", status.instance},
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

Json invite_json(const InviteRow& row) {
  Json object = {{"name", row.name},
                 {"profile", row.profile},
                 {"createdUnixMs", row.created_unix_ms},
                 {"expiresUnixMs", row.expires_unix_ms}};
  if (!row.code.empty()) object["code"] = row.code;
  if (row.uses_left) object["usesLeft"] = *row.uses_left;
  return object;
}

Json new_invites_json(const NewInvites& order) {
  Json object = {{"say", "new-invites"},
                 {"name", order.name},
                 {"profile", order.profile},
                 {"forMs", order.for_ms},
                 {"count", order.count}};
  if (order.uses) object["uses"] = *order.uses;
  return object;
}

Expected<std::optional<std::uint32_t>> optional_small(JsonReader& in, const char* key, std::uint32_t least) {
  const auto number = TRY(in.optional_number(key, least, UINT32_MAX));
  return number ? std::optional(static_cast<std::uint32_t>(*number)) : std::optional<std::uint32_t>();
}

Expected<FromMonitor> new_invites_from(JsonReader& in) {
  NewInvites order;
  order.name = TRY(in.text("name", 64));
  order.profile = TRY(in.text("profile", 64));
  order.for_ms = TRY(in.number("forMs", 1000, kLongestInviteMs));
  order.count = static_cast<std::uint32_t>(TRY(in.number("count", 1, kMostInvitesAtOnce)));
  order.uses = TRY(optional_small(in, "uses", 1));
  TRY(in.finish());
  return FromMonitor(std::move(order));
}

Expected<ToMonitor> invites_from(JsonReader& in) {
  Invites invites;
  if (const Json* rows = TRY(in.optional_array("invites", 1000)))
    for (const Json& object : *rows) {
      JsonReader row(object, "invites");
      InviteRow invite;
      invite.name = TRY(row.text("name", 64));
      invite.profile = TRY(row.text("profile", 64));
      invite.code = TRY(row.optional_text("code", 64)).value_or("");
      invite.created_unix_ms = TRY(row.number("createdUnixMs", 0, kAny));
      invite.expires_unix_ms = TRY(row.number("expiresUnixMs", 0, kAny));
      invite.uses_left = TRY(optional_small(row, "usesLeft", 0));
      TRY(row.finish());
      invites.rows.push_back(std::move(invite));
    }
  invites.more = TRY(in.boolean("more", false));
  TRY(in.finish());
  return ToMonitor(std::move(invites));
}

Expected<ToMonitor> status_from(JsonReader& in) {
  Status status;
  const auto count = [&](const char* key) { return in.number(key, 0, UINT32_MAX); };
  status.instance = TRY(in.text("instance", 40));
  status.version = TRY(in.text("version", 40));
  status.started_unix_ms = TRY(in.number("startedUnixMs", 0, kAny));
  status.draining = TRY(in.boolean("draining", false));
  status.live = static_cast<std::uint32_t>(TRY(count("live")));
  status.queued = static_cast<std::uint32_t>(TRY(count("queued")));
  status.unreleased = static_cast<std::uint32_t>(TRY(count("unreleased")));
  status.built = TRY(in.number("built", 0, kAny));
  status.refused = TRY(in.number("refused", 0, kAny));
  status.failed = TRY(in.number("failed", 0, kAny));
  status.leaks = TRY(in.number("leaks", 0, kAny));
  status.cgroups = TRY(in.text("cgroups", 16));
  status.root = TRY(in.boolean("root", false));
  status.ssh = TRY(in.text("ssh", 64));
  status.http = TRY(in.text("http", 64));
  status.reloads = TRY(in.number("reloads", 0, kAny));
  status.reloads_refused = TRY(in.number("reloadsRefused", 0, kAny));
  status.restart_needed = TRY(in.text("restartNeeded", 200));
  status.host_key = TRY(in.text("hostKey", 64));
  TRY(in.finish());
  return ToMonitor(status);
}

Expected<ToMonitor> jails_from(JsonReader& in) {
  Jails jails;
  if (const Json* rows = TRY(in.optional_array("jails", 1000)))
    for (const Json& row : *rows) jails.rows.push_back(TRY(row_from(row)));
  jails.more = TRY(in.boolean("more", false));
  TRY(in.finish());
  return ToMonitor(std::move(jails));
}

}  // namespace

std::string encode(const FromMonitor& message) {
  return text_of(std::visit(Overloaded{
                                [](const AskStatus&) -> Json {
                                  return {{"say", "ask-status"}};
                                },
                                [](const AskJails&) -> Json {
                                  return {{"say", "ask-jails"}};
                                },
                                [](const KillJails& m) -> Json {
                                  return {{"say", "kill"}, {"target", m.target}};
                                },
                                [](const Drain&) -> Json {
                                  return {{"say", "drain"}};
                                },
                                [](const NewInvites& m) -> Json { return new_invites_json(m); },
                                [](const AskInvites&) -> Json {
                                  return {{"say", "ask-invites"}};
                                },
                                [](const RevokeInvite& m) -> Json {
                                  return {{"say", "revoke-invite"}, {"name", m.name}};
                                },
                            },
                            message));
}

std::string encode(const ToMonitor& message) {
  return text_of(std::visit(Overloaded{
                                [](const Status& m) -> Json { return status_json(m); },
                                [](const Jails& m) -> Json {
                                  Json rows = Json::array();
                                  for (const JailRow& row : m.rows) rows.push_back(row_json(row));
                                  return {{"say", "jails"}, {"jails", std::move(rows)}, {"more", m.more}};
                                },
                                [](const Killed& m) -> Json {
                                  return {{"say", "killed"}, {"count", m.count}};
                                },
                                [](const Done&) -> Json {
                                  return {{"say", "done"}};
                                },
                                [](const Denied& m) -> Json {
                                  return {{"say", "denied"}, {"text", m.text}};
                                },
                                [](const Invites& m) -> Json {
                                  Json rows = Json::array();
                                  for (const InviteRow& row : m.rows) rows.push_back(invite_json(row));
                                  return {{"say", "invites"}, {"invites", std::move(rows)}, {"more", m.more}};
                                },
                                [](const Revoked& m) -> Json {
                                  return {{"say", "revoked"}, {"jails", m.jails}};
                                },
                            },
                            message));
}

Expected<FromMonitor> decode_from_monitor(const Json& body) {
  JsonReader in(body, "");
  const std::string say = TRY(in.text("say", 20));
  if (say == "new-invites") return new_invites_from(in);
  FromMonitor message = AskStatus{};
  if (say == "ask-status")
    message = AskStatus{};
  else if (say == "ask-jails")
    message = AskJails{};
  else if (say == "kill")
    message = KillJails{TRY(in.text("target", 255))};
  else if (say == "drain")
    message = Drain{};
  else if (say == "ask-invites")
    message = AskInvites{};
  else if (say == "revoke-invite")
    message = RevokeInvite{TRY(in.text("name", 64))};
  else
    return failure("read field", 0, "say", "unknown message: " + escape(say));
  TRY(in.finish());
  return message;
}

Expected<ToMonitor> decode_to_monitor(const Json& body) {
  JsonReader in(body, "");
  const std::string say = TRY(in.text("say", 20));
  if (say == "status") return status_from(in);
  if (say == "jails") return jails_from(in);
  if (say == "invites") return invites_from(in);
  ToMonitor message = Done{};
  if (say == "killed")
    message = Killed{static_cast<std::uint32_t>(TRY(in.number("count", 0, UINT32_MAX)))};
  else if (say == "revoked")
    message = Revoked{static_cast<std::uint32_t>(TRY(in.number("jails", 0, UINT32_MAX)))};
  else if (say == "done")
    message = Done{};
  else if (say == "denied")
    message = Denied{TRY(in.text("text", 1000))};
  else
    return failure("read field", 0, "say", "unknown message: " + escape(say));
  TRY(in.finish());
  return message;
}

}  // namespace mayfly
