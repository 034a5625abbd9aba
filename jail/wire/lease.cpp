#include "jail/wire/lease.h"

#include <algorithm>
#include <array>
#include <limits>

#include "jail/spec/escape.h"
#include "jail/spec/profile.h"
#include "jail/wire/request_json.h"
#include "jail/wire/result_json.h"

namespace mayfly {

namespace {

constexpr std::uint64_t kAny = std::numeric_limits<std::int64_t>::max();
constexpr std::array<std::string_view, 4> kLoginWays = {"none", "code", "key-offer", "key"};
constexpr std::array<std::string_view, 7> kRefusals = {
    "bad-request", "queue-full", "quota", "waited-too-long", "draining", "control-missing", "unknown-profile"};

template <typename... Handlers>
struct Overloaded : Handlers... {
  using Handlers::operator()...;
};
template <typename... Handlers>
Overloaded(Handlers...) -> Overloaded<Handlers...>;

WireForm form_of(const Ended& ended) { return ended.after_running ? WireForm::AfterRunning : WireForm::Whole; }

Expected<RunNumber> run_of(JsonReader& in) { return static_cast<RunNumber>(TRY(in.number("run", 1, UINT32_MAX))); }

void put_host(JsonText& out, const Host& host) {
  out.put("say", "host").put("kernel", host.kernel).put("root", host.root).put("cgroups", host.cgroups);
  out.open_list("controls");
  for (const HostControl& row : host.controls)
    out.open_item()
        .put("control", name(row.control))
        .put("expected", name(row.expected))
        .put("cause", row.cause)
        .put("fix", row.fix)
        .close();
  out.close_list();
  put_control_set(out, "required", host.required);
  if (host.with_folders.empty()) return;
  out.open_list("withFolders");
  for (const std::string& profile : host.with_folders) out.item(profile);
  out.close_list();
}

Expected<HostControl> host_control_from(const Json& object) {
  JsonReader in(object, "controls");
  HostControl row;
  const auto control = control_named(TRY(in.text("control", 20)));
  if (!control) return failure("read field", 0, "controls.control", "unknown control");
  row.control = *control;
  const std::string word = TRY(in.text("expected", 40));
  const std::optional<Measured> expected = measured_named(word);
  if (!expected) return failure("read field", 0, "controls.expected", "unknown word");
  row.expected = *expected;
  row.cause = TRY(in.text("cause", 1000));
  row.fix = TRY(in.text("fix", 1000));
  TRY(in.finish());
  return row;
}

Expected<FromSupervisor> host_from(JsonReader& in) {
  Host host;
  host.kernel = TRY(in.text("kernel", 256));
  host.root = TRY(in.boolean("root", false));
  host.cgroups = TRY(in.text("cgroups", 16));
  if (const Json* rows = TRY(in.optional_array("controls", kControlCount)))
    for (const Json& row : *rows) host.controls.push_back(TRY(host_control_from(row)));
  if (const Json* required = TRY(in.optional_array("required", kControlCount)))
    host.required = TRY(control_set_from(*required, "required"));
  if (const Json* profiles = TRY(in.optional_array("withFolders", 64)))
    for (const Json& profile : *profiles) {
      if (!profile.is_string() || !is_catalogue_name(profile.get_ref<const std::string&>()))
        return failure("read field", 0, "withFolders", "a list of profiles is needed");
      host.with_folders.push_back(profile.get<std::string>());
    }
  TRY(in.finish());
  return FromSupervisor(host);
}

Expected<FromSupervisor> refused_from(JsonReader& in) {
  Refused refused;
  refused.run = TRY(run_of(in));
  refused.id = TRY(in.text("id", 40));
  const std::string word = TRY(in.text("kind", 24));
  bool known = false;
  for (std::size_t i = 0; i < kRefusals.size(); ++i)
    if (kRefusals[i] == word) {
      refused.kind = static_cast<RefusalKind>(i);
      known = true;
    }
  if (!known) return failure("read field", 0, "kind", "unknown refusal");
  refused.field = TRY(in.text("field", 400));
  refused.text = TRY(in.text("text", 1000));
  refused.retry_after_ms = TRY(in.number("retryAfterMs", 0, kAny));
  TRY(in.finish());
  return FromSupervisor(refused);
}

Expected<FromSupervisor> running_from(JsonReader& in) {
  Running running;
  running.run = TRY(run_of(in));
  running.id = TRY(in.text("id", 40));
  running.controls = TRY(controls_from_wire(TRY(in.text("controls", 1000))));
  running.limits = TRY(limits_from_wire(TRY(in.text("limits", 1000))));
  TRY(in.finish());
  return FromSupervisor(running);
}

Expected<FromFrontEnd> open_from(JsonReader& in) {
  Open open;
  open.run = TRY(run_of(in));
  open.has_stdin = TRY(in.boolean("stdin", false));
  open.request = TRY(request_from(*TRY(in.object("request"))));
  TRY(in.finish());
  return FromFrontEnd(std::move(open));
}

Expected<FromFrontEnd> cancel_from(JsonReader& in) {
  Cancel cancel;
  cancel.run = TRY(run_of(in));
  const auto why = ending_named(TRY(in.text("why", 20)));
  if (!why || (*why != Ending::Cancelled && *why != Ending::Disconnected))
    return failure("read field", 0, "why", "cancelled or disconnected is needed");
  cancel.why = *why;
  TRY(in.finish());
  return FromFrontEnd(cancel);
}

Expected<FromFrontEnd> log_in_from(JsonReader& in) {
  LogIn login;
  const std::string word = TRY(in.text("way", 16));
  const auto* const way = std::find(kLoginWays.begin(), kLoginWays.end(), word);
  if (way == kLoginWays.end()) return failure("read field", 0, "way", "none, code, key-offer or key is needed");
  login.way = static_cast<LoginWay>(way - kLoginWays.begin());
  login.user = TRY(in.text("user", 255));
  const bool is_key = login.way == LoginWay::Key || login.way == LoginWay::KeyOffer;
  login.credential = TRY(in.text("credential", is_key ? kMostKeyBase64 : kMostCodeBytes));
  login.source = TRY(in.text("source", 64));
  login.host = TRY(in.text("host", 64));
  TRY(in.finish());
  return FromFrontEnd(std::move(login));
}

Expected<FromSupervisor> login_judged_from(JsonReader& in) {
  LoginJudged judged;
  judged.good = TRY(in.boolean("good", false));
  judged.principal = TRY(in.text("principal", 255));
  judged.command = TRY(in.optional_text("command", kMostForcedCommand));
  TRY(in.finish());
  return FromSupervisor(std::move(judged));
}

Expected<FromFrontEnd> resize_from(JsonReader& in) {
  ResizeRun resize;
  resize.run = TRY(run_of(in));
  resize.size.columns = static_cast<std::uint16_t>(TRY(in.number("columns", 1, 1000)));
  resize.size.rows = static_cast<std::uint16_t>(TRY(in.number("rows", 1, 1000)));
  TRY(in.finish());
  return FromFrontEnd(resize);
}

}  // namespace

std::string_view name(RefusalKind kind) { return kRefusals[static_cast<std::size_t>(kind) % kRefusals.size()]; }

std::string encode(const FromFrontEnd& message) {
  JsonText out;
  std::visit(Overloaded{
                 [&](const Open& m) {
                   out.put("say", "open").put("run", m.run).put("stdin", m.has_stdin).open("request");
                   put_request(out, m.request);
                   out.close();
                 },
                 [&](const Cancel& m) { out.put("say", "cancel").put("run", m.run).put("why", name(m.why)); },
                 [&](const SignalRun& m) { out.put("say", "signal").put("run", m.run).put("signal", m.signal_number); },
                 [&](const ResizeRun& m) {
                   out.put("say", "resize").put("run", m.run).put("columns", m.size.columns).put("rows", m.size.rows);
                 },
                 [&](const AskHost&) { out.put("say", "ask-host"); },
                 [&](const LogIn& m) {
                   out.put("say", "log-in").put("way", kLoginWays[static_cast<std::size_t>(m.way)]);
                   out.put("user", m.user).put("credential", m.credential).put("source", m.source).put("host", m.host);
                 },
             },
             message);
  return out.take();
}

std::string encode(const FromSupervisor& message) {
  JsonText out;
  std::visit(Overloaded{
                 [&](const Queued& m) {
                   out.put("say", "queued").put("run", m.run).put("id", m.id).put("position", m.position);
                 },
                 [&](const Running& m) {
                   out.put("say", "running").put("run", m.run).put("id", m.id);
                   out.put("controls", controls_wire(m.controls)).put("limits", limits_wire(m.limits));
                 },
                 [&](const Refused& m) {
                   out.put("say", "refused").put("run", m.run).put("id", m.id).put("kind", name(m.kind));
                   out.put("field", m.field).put("text", m.text).put("retryAfterMs", m.retry_after_ms);
                 },
                 [&](const Ended& m) {
                   out.put("say", "ended").put("run", m.run).put("afterRunning", m.after_running).open("result");
                   put_result(out, m.result, form_of(m));
                   out.close();
                 },
                 [&](const Host& m) { put_host(out, m); },
                 [&](const Fault& m) { out.put("say", "fault").put("text", m.text); },
                 [&](const LoginJudged& m) {
                   out.put("say", "login").put("good", m.good).put("principal", m.principal);
                   if (m.command) out.put("command", *m.command);
                 },
             },
             message);
  return out.take();
}

Expected<FromFrontEnd> decode_from_front_end(const Json& body) {
  JsonReader in(body, "");
  const std::string say = TRY(in.text("say", 20));
  if (say == "open") return open_from(in);
  if (say == "cancel") return cancel_from(in);
  if (say == "resize") return resize_from(in);
  if (say == "log-in") return log_in_from(in);
  if (say == "signal") {
    SignalRun signal;
    signal.run = TRY(run_of(in));
    signal.signal_number = static_cast<int>(TRY(in.number("signal", 1, 64)));
    TRY(in.finish());
    return FromFrontEnd(signal);
  }
  if (say == "ask-host") {
    TRY(in.finish());
    return FromFrontEnd(AskHost{});
  }
  return failure("read field", 0, "say", "unknown message: " + escape(say));
}

Expected<FromSupervisor> decode_from_supervisor(const Json& body) {
  JsonReader in(body, "");
  const std::string say = TRY(in.text("say", 20));
  if (say == "running") return running_from(in);
  if (say == "refused") return refused_from(in);
  if (say == "host") return host_from(in);
  if (say == "login") return login_judged_from(in);
  if (say == "queued") {
    Queued queued;
    queued.run = TRY(run_of(in));
    queued.id = TRY(in.text("id", 40));
    queued.position = static_cast<std::uint32_t>(TRY(in.number("position", 1, UINT32_MAX)));
    TRY(in.finish());
    return FromSupervisor(queued);
  }
  if (say == "ended") {
    Ended ended;
    ended.run = TRY(run_of(in));
    ended.after_running = TRY(in.boolean("afterRunning", false));
    ended.result = TRY(result_from(*TRY(in.object("result")), form_of(ended)));
    TRY(in.finish());
    return FromSupervisor(std::move(ended));
  }
  if (say == "fault") {
    Fault fault;
    fault.text = TRY(in.text("text", 2000));
    TRY(in.finish());
    return FromSupervisor(fault);
  }
  return failure("read field", 0, "say", "unknown message: " + escape(say));
}

}  // namespace mayfly
