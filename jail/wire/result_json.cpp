#include "jail/wire/result_json.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "jail/spec/escape.h"
#include "jail/wire/json_text.h"

namespace mayfly {

namespace {

constexpr std::uint64_t kAny = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kRuntime = "mayfly";

double to_ms(Microseconds time) { return static_cast<double>(time.count()) / 1000.0; }

template <typename T, typename Number>
void put_measured(JsonText& out, std::string_view key, const Measurement<T>& measurement, Number number) {
  if (measurement.value)
    out.put(key, number(*measurement.value));
  else
    out.put(key, nullptr);
}

void put_optional(JsonText& out, std::string_view key, const std::optional<std::string>& value) {
  if (value)
    out.put(key, *value);
  else
    out.put(key, nullptr);
}

// JsonObject or JsonText: both take members one by one.
template <typename Object>
void put_controls(Object& object, const Controls& controls) {
  for (const Control control : kAllControls) object.put(name(control), name(controls.at(control)));
}

// A limit that nothing on this host holds is null: what is reported is what is applied.
struct Held {
  bool memory = true, cpus = true;
};

Held held_by(const Controls& controls) {
  return {controls.at(Control::Memory) != Measured::Unlimited, controls.at(Control::Cpu) != Measured::Unlimited};
}

bool was_measured(const Controls& controls) {
  return std::ranges::any_of(kAllControls, [&](Control control) { return controls.at(control) != Measured::Absent; });
}

template <typename Object, typename Value>
void put_if(Object& object, std::string_view key, bool is_there, Value value) {
  if (is_there)
    object.put(key, value);
  else
    object.put(key, nullptr);
}

template <typename Object>
void put_limits(Object& object, const Limits& limits, Held held) {
  object.put("wallMs", limits.wall.count()).put("cpuMs", limits.cpu_time.count());
  put_if(object, "memoryBytes", held.memory, limits.memory.count);
  object.put("processes", limits.processes);
  put_if(object, "cpus", held.cpus, limits.cpus.count / 1000.0);
  object.put("diskBytes", limits.disk.count)
      .put("inodes", limits.inodes)
      .put("openFiles", limits.open_files)
      .put("outputBytes", limits.output_kept.count)
      .put("outputCeilingBytes", limits.output_ceiling.count);
  if (limits.idle.count() != 0) object.put("idleMs", limits.idle.count());
}

// A captured stream and its tail as JSON strings in one encoding: UTF-8 when both are, else base64. Where a cap has
// cut, the head may end and the tail may begin within a character: those bytes are left out of the text.
struct StreamText {
  std::string head;
  std::optional<std::string> tail;
  std::string_view encoding;
};

std::string_view without_split_end(std::string_view head) {
  for (std::size_t back = 0; back <= 3 && back <= head.size(); ++back)
    if (is_utf8(head.substr(0, head.size() - back))) return head.substr(0, head.size() - back);
  return head;
}

std::string_view without_split_start(std::string_view tail) {
  std::size_t skip = 0;
  while (skip < 3 && skip < tail.size() && (static_cast<unsigned char>(tail[skip]) & 0xC0u) == 0x80u) ++skip;
  return tail.substr(skip);
}

StreamText stream_text(std::string_view captured, const StreamTotals& totals) {
  const std::string_view head = totals.truncated ? without_split_end(captured) : captured;
  const std::string_view tail = totals.tail ? without_split_start(*totals.tail) : std::string_view();
  const auto kept = [&](std::string text) {
    return totals.tail ? std::optional<std::string>(std::move(text)) : std::nullopt;
  };
  if (is_utf8(head) && is_utf8(tail)) return {std::string(head), kept(std::string(tail)), "utf-8"};
  return {base64(captured), kept(base64(totals.tail.value_or(""))), "base64"};
}

void put_failure(JsonText& out, const Result& result) {
  out.open("failure").put("step", name(result.failed_step));
  if (const char* error = result.failed_errno == 0 ? nullptr : ::strerrorname_np(result.failed_errno))
    out.put("error", error);
  else
    out.put("error", nullptr);
  out.close();
}

void put_metrics(JsonText& out, const Metrics& metrics) {
  out.open("metrics").put("queuedMs", metrics.queued.count()).put("buildMs", to_ms(metrics.build));
  out.put("wallMs", to_ms(metrics.wall));
  put_measured(out, "cpuMs", metrics.cpu, to_ms);
  put_measured(out, "memoryPeakBytes", metrics.memory_peak, [](Bytes b) { return b.count; });
  put_measured(out, "processesPeak", metrics.processes_peak, [](std::uint32_t n) { return n; });
  out.put("closedMs", to_ms(metrics.closed)).open_list("madeAhead");
  for (const std::string& part : metrics.made_ahead) out.item(part);
  out.close_list().close();
}

// How it ended, in a word and for people.
void put_ending(JsonText& out, const Result& result) {
  if (result.exit_code && result.ending == Ending::Exited)
    out.put("exitCode", *result.exit_code);
  else
    out.put("exitCode", nullptr);
  if (result.signal_number)
    out.put("signal", signal_name(*result.signal_number));
  else
    out.put("signal", nullptr);
  out.put("timedOut", is_timed_out(result.ending)).put("ending", name(result.ending));
  if (!result.text.empty()) out.put("reason", result.text);
  if (result.ending == Ending::Failed && result.failed_step != Step::None) put_failure(out, result);
}

template <typename Value>
void put_both(JsonText& out, std::string_view key, const Value& stdout_part, const Value& stderr_part) {
  out.open(key).put("stdout", stdout_part).put("stderr", stderr_part).close();
}

void put_streams(JsonText& out, const Result& result, const StreamText& head, const StreamText& err) {
  put_both(out, "encoding", head.encoding, err.encoding);
  put_both(out, "truncated", result.out.truncated, result.err.truncated);
  out.open("tail");
  put_optional(out, "stdout", head.tail);
  put_optional(out, "stderr", err.tail);
  out.close();
  put_both(out, "bytes", result.out.bytes, result.err.bytes);
  if (result.output_incomplete) out.put("outputIncomplete", true);
}

// Of a jail that never came to its gate nothing was measured.
void put_applied(JsonText& out, const Result& result) {
  if (!was_measured(result.controls)) {
    out.put("controls", nullptr).put("limits", nullptr).put("environment", nullptr).put("folders", nullptr);
    return;
  }
  out.open("controls");
  put_controls(out, result.controls);
  out.close().open("limits");
  put_limits(out, result.limits, held_by(result.controls));
  out.close().open_list("environment");
  for (const std::string& entry : result.environment) out.item(entry);
  out.close_list().open_list("folders");
  for (const std::string& folder : result.folders) out.item(folder);
  out.close_list();
}

}  // namespace

Json controls_json(const Controls& controls) {
  JsonObject object;
  put_controls(object, controls);
  return object.take();
}

Json limits_json(const Limits& limits) {
  JsonObject object;
  put_limits(object, limits, Held());
  return object.take();
}

Expected<Limits> limits_from(const Json& object) {
  JsonReader in(object, "limits");
  Limits limits;
  const auto ms = [](std::uint64_t n) { return Milliseconds{static_cast<std::int64_t>(n)}; };
  limits.wall = ms(TRY(in.number("wallMs", 0, kAny)));
  limits.cpu_time = ms(TRY(in.number("cpuMs", 0, kAny)));
  limits.memory.count = TRY(in.number("memoryBytes", 0, kAny));
  limits.processes = static_cast<std::uint32_t>(TRY(in.number("processes", 0, UINT32_MAX)));
  const double cpus = TRY(in.optional_real("cpus", 0, 1e6)).value_or(0);
  limits.cpus.count = static_cast<std::uint32_t>(std::lround(cpus * 1000));
  limits.disk.count = TRY(in.number("diskBytes", 0, kAny));
  limits.inodes = static_cast<std::uint32_t>(TRY(in.number("inodes", 0, UINT32_MAX)));
  limits.open_files = static_cast<std::uint32_t>(TRY(in.number("openFiles", 0, UINT32_MAX)));
  limits.output_kept.count = TRY(in.number("outputBytes", 0, kAny));
  limits.output_ceiling.count = TRY(in.number("outputCeilingBytes", 0, kAny));
  limits.idle = ms(TRY(in.optional_number("idleMs", 0, kAny)).value_or(0));
  TRY(in.finish());
  return limits;
}

std::string result_public(const Result& result, const Captured& captured, std::string_view language_version) {
  const StreamText head = stream_text(captured.out, result.out);
  const StreamText err = stream_text(captured.err, result.err);
  JsonText out;
  out.put("id", result.id).put("stdout", head.head).put("stderr", err.head);
  put_ending(out, result);
  const auto known = [](std::string_view word) {
    return word.empty() ? std::nullopt : std::optional<std::string>(word);
  };
  out.put("runtime", kRuntime);
  put_optional(out, "language", known(result.language));
  put_optional(out, "languageVersion", known(language_version));
  put_streams(out, result, head, err);
  out.open_list("limitsReached");
  for (const LimitReached limit : result.limits_reached) out.item(name(limit));
  out.close_list();
  put_applied(out, result);
  if (!result.label.empty()) out.put("label", result.label);
  put_metrics(out, result.metrics);
  out.put("record", nullptr);  // records arrive with the ledger
  return out.take();
}

}  // namespace mayfly
