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
          {"root", status.root}};
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
                            },
                            message));
}

Expected<FromMonitor> decode_from_monitor(const Json& body) {
  JsonReader in(body, "");
  const std::string say = TRY(in.text("say", 20));
  FromMonitor message = AskStatus{};
  if (say == "ask-status")
    message = AskStatus{};
  else if (say == "ask-jails")
    message = AskJails{};
  else if (say == "kill")
    message = KillJails{TRY(in.text("target", 255))};
  else if (say == "drain")
    message = Drain{};
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
  ToMonitor message = Done{};
  if (say == "killed")
    message = Killed{static_cast<std::uint32_t>(TRY(in.number("count", 0, UINT32_MAX)))};
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
