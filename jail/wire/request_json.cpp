#include "jail/wire/request_json.h"

#include <array>
#include <limits>

#include "jail/spec/escape.h"

namespace mayfly {

namespace {

constexpr std::array<std::string_view, 3> kOrigins = {"ssh", "api", "cli"};
constexpr std::array<std::string_view, 4> kKinds = {"code", "command", "argument", "file"};
constexpr std::uint64_t kAny = std::numeric_limits<std::int64_t>::max();
constexpr double kAnyReal = std::numeric_limits<double>::max();

template <std::size_t N>
std::optional<std::size_t> index_of(const std::array<std::string_view, N>& words, std::string_view word) {
  for (std::size_t i = 0; i < N; ++i)
    if (words[i] == word) return i;
  return std::nullopt;
}

void put_part(JsonText& out, const PayloadPart& part) {
  out.open_item().put("kind", kKinds[static_cast<std::size_t>(part.kind)]);
  out.put("offset", part.offset).put("length", part.length);
  if (!part.name.empty()) out.put("name", part.name);
  if (part.executable) out.put("executable", true);
  out.close();
}

void put_limit_request(JsonText& out, const LimitRequest& limits) {
  const auto put = [&](const char* key, const auto& value) {
    if (value) out.put(key, *value);
  };
  put("wallMs", limits.wall_ms);
  put("cpuMs", limits.cpu_ms);
  put("memoryBytes", limits.memory_bytes);
  put("processes", limits.processes);
  put("cpus", limits.cpus);
  put("diskBytes", limits.disk_bytes);
  put("openFiles", limits.open_files);
  put("outputBytes", limits.output_bytes);
}

Expected<PayloadPart> part_from(const Json& object) {
  JsonReader in(object, "payload");
  PayloadPart part;
  const auto kind = index_of(kKinds, TRY(in.text("kind", 16)));
  if (!kind) return failure("read field", 0, "payload.kind", "code, command, argument or file is needed");
  part.kind = static_cast<PayloadKind>(*kind);
  part.offset = TRY(in.number("offset", 0, kAny));
  part.length = TRY(in.number("length", 0, kAny));
  part.name = TRY(in.optional_text("name", 255)).value_or("");
  part.executable = TRY(in.boolean("executable", false));
  TRY(in.finish());
  return part;
}

Expected<std::optional<TerminalRequest>> terminal_from(JsonReader& in) {
  const Json* object = TRY(in.optional_object("terminal"));
  if (!object) return std::optional<TerminalRequest>();
  JsonReader terminal(*object, "terminal");
  TerminalRequest request;
  request.size.columns = static_cast<std::uint16_t>(TRY(terminal.number("columns", 1, 1000)));
  request.size.rows = static_cast<std::uint16_t>(TRY(terminal.number("rows", 1, 1000)));
  request.term = TRY(terminal.text("term", 64));
  TRY(terminal.finish());
  return std::optional<TerminalRequest>(request);
}

}  // namespace

Expected<LimitRequest> limit_request_from(const Json& object, const std::string& where) {
  JsonReader in(object, where);
  LimitRequest limits;
  limits.wall_ms = TRY(in.optional_integer("wallMs"));
  limits.cpu_ms = TRY(in.optional_integer("cpuMs"));
  limits.memory_bytes = TRY(in.optional_integer("memoryBytes"));
  limits.processes = TRY(in.optional_integer("processes"));
  limits.cpus = TRY(in.optional_real("cpus", -kAnyReal, kAnyReal));
  limits.disk_bytes = TRY(in.optional_integer("diskBytes"));
  limits.open_files = TRY(in.optional_integer("openFiles"));
  limits.output_bytes = TRY(in.optional_integer("outputBytes"));
  TRY(in.finish());
  return limits;
}

Json control_set_json(ControlSet set) {
  Json list = Json::array();
  for (const Control control : kAllControls)
    if (set.has(control)) list.push_back(name(control));
  return list;
}

Expected<ControlSet> control_set_from(const Json& list, const std::string& where) {
  ControlSet set;
  for (const Json& item : list) {
    const auto control = item.is_string() ? control_named(item.get_ref<const std::string&>()) : std::nullopt;
    if (!control)
      return failure("read field", 0, where,
                     "not a control: " + escape(item.dump(-1, ' ', true, Json::error_handler_t::replace), 60));
    set.add(*control);
  }
  return set;
}

void put_control_set(JsonText& out, std::string_view key, ControlSet set) {
  out.open_list(key);
  for (const Control control : kAllControls)
    if (set.has(control)) out.item(name(control));
  out.close_list();
}

void put_request(JsonText& out, const Request& request) {
  out.put("origin", name(request.origin)).put("peer", request.peer).put("principal", request.principal);
  out.put("profile", request.profile);
  if (!request.language.empty()) out.put("language", request.language);
  if (!request.payload.empty()) {
    out.open_list("payload");
    for (const PayloadPart& part : request.payload) put_part(out, part);
    out.close_list().put("payloadBytes", request.payload_bytes);
  }
  if (const auto& terminal = request.terminal)
    out.open("terminal")
        .put("columns", terminal->size.columns)
        .put("rows", terminal->size.rows)
        .put("term", terminal->term)
        .close();
  if (request.limits != LimitRequest()) {
    out.open("limits");
    put_limit_request(out, request.limits);
    out.close();
  }
  if (request.require != ControlSet()) put_control_set(out, "require", request.require);
  if (request.reproducible) out.put("reproducible", true);
  if (!request.label.empty()) out.put("label", request.label);
  if (request.queue_ms) out.put("queueMs", *request.queue_ms);
}

Expected<Request> request_from(const Json& object) {
  JsonReader in(object, "");
  Request request;
  const auto origin = index_of(kOrigins, TRY(in.text("origin", 8)));
  if (!origin) return failure("read field", 0, "origin", "ssh, api or cli is needed");
  request.origin = static_cast<OriginKind>(*origin);
  request.peer = TRY(in.text("peer", 128));
  request.principal = TRY(in.text("principal", 255));
  request.profile = TRY(in.text("profile", 64));
  request.language = TRY(in.optional_text("language", 64)).value_or("");
  if (const Json* parts = TRY(in.optional_array("payload", kMaxFileCount + kMaxArguments + 2)))
    for (const Json& part : *parts) request.payload.push_back(TRY(part_from(part)));
  request.payload_bytes = TRY(in.optional_number("payloadBytes", 0, kAny)).value_or(0);
  request.terminal = TRY(terminal_from(in));
  if (const Json* limits = TRY(in.optional_object("limits")))
    request.limits = TRY(limit_request_from(*limits, "limits"));
  if (const Json* require = TRY(in.optional_array("require", kControlCount)))
    request.require = TRY(control_set_from(*require, "require"));
  request.reproducible = TRY(in.boolean("reproducible", false));
  request.label = TRY(in.optional_text("label", 1024)).value_or("");
  request.queue_ms = TRY(in.optional_number("queueMs", 0, kAny));
  TRY(in.finish());
  return request;
}

}  // namespace mayfly
