#include "jail/wire/result_json.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "jail/spec/escape.h"

namespace mayfly {

namespace {

constexpr std::uint64_t kAny = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kRuntime = "mayfly";

double to_ms(Microseconds time) { return static_cast<double>(time.count()) / 1000.0; }

template <typename T, typename Number>
Json measured(const Measurement<T>& measurement, Number number) {
  return measurement.value ? Json(number(*measurement.value)) : Json(nullptr);
}

// A captured stream and its tail as JSON strings in one encoding: UTF-8 when both are, else base64. Where a cap has
// cut, the head may end and the tail may begin within a character: those bytes are left out of the text.
struct StreamText {
  std::string head;
  Json tail;
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
  if (is_utf8(head) && is_utf8(tail))
    return {std::string(head), totals.tail ? Json(std::string(tail)) : Json(nullptr), "utf-8"};
  return {base64(captured), totals.tail ? Json(base64(*totals.tail)) : Json(nullptr), "base64"};
}

Json failure_json(const Result& result) {
  const char* error = result.failed_errno == 0 ? nullptr : ::strerrorname_np(result.failed_errno);
  return {{"step", name(result.failed_step)}, {"error", error ? Json(error) : Json(nullptr)}};
}

Json metrics_public(const Metrics& metrics) {
  return JsonObject()
      .put("queuedMs", metrics.queued.count())
      .put("buildMs", to_ms(metrics.build))
      .put("wallMs", to_ms(metrics.wall))
      .put("cpuMs", measured(metrics.cpu, to_ms))
      .put("memoryPeakBytes", measured(metrics.memory_peak, [](Bytes b) { return b.count; }))
      .put("processesPeak", measured(metrics.processes_peak, [](std::uint32_t n) { return n; }))
      .put("closedMs", to_ms(metrics.closed))
      .put("madeAhead", Json(metrics.made_ahead))
      .take();
}

}  // namespace

Json limits_reached_json(const std::vector<LimitReached>& reached) {
  Json list = Json::array();
  for (const LimitReached limit : reached) list.push_back(name(limit));
  return list;
}

Json controls_json(const Controls& controls) {
  JsonObject object;
  for (const Control control : kAllControls) object.put(name(control), name(controls.at(control)));
  return object.take();
}

Json limits_json(const Limits& limits) {
  JsonObject object;
  object.put("wallMs", limits.wall.count())
      .put("cpuMs", limits.cpu_time.count())
      .put("memoryBytes", limits.memory.count)
      .put("processes", limits.processes)
      .put("cpus", limits.cpus.count / 1000.0)
      .put("diskBytes", limits.disk.count)
      .put("inodes", limits.inodes)
      .put("openFiles", limits.open_files)
      .put("outputBytes", limits.output_kept.count)
      .put("outputCeilingBytes", limits.output_ceiling.count);
  if (limits.idle.count() != 0) object.put("idleMs", limits.idle.count());
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

Json result_public(const Result& result, const Captured& captured, std::string_view language_version) {
  StreamText out = stream_text(captured.out, result.out);
  StreamText err = stream_text(captured.err, result.err);
  JsonObject object;
  const auto both = [](Json stdout_part, Json stderr_part) {
    return JsonObject().put("stdout", std::move(stdout_part)).put("stderr", std::move(stderr_part)).take();
  };
  const bool has_code = result.exit_code && result.ending == Ending::Exited;
  object.put("id", result.id).put("stdout", std::move(out.head)).put("stderr", std::move(err.head));
  object.put("exitCode", has_code ? Json(*result.exit_code) : Json(nullptr));
  object.put("signal", result.signal_number ? Json(signal_name(*result.signal_number)) : Json(nullptr));
  object.put("timedOut", is_timed_out(result.ending)).put("ending", name(result.ending));
  if (!result.text.empty()) object.put("reason", result.text);
  if (result.ending == Ending::Failed && result.failed_step != Step::None) object.put("failure", failure_json(result));
  object.put("runtime", kRuntime);
  object.put("language", result.language.empty() ? Json(nullptr) : Json(result.language));
  object.put("languageVersion", language_version.empty() ? Json(nullptr) : Json(language_version));
  object.put("encoding", both(out.encoding, err.encoding));
  object.put("truncated", both(result.out.truncated, result.err.truncated));
  object.put("tail", both(std::move(out.tail), std::move(err.tail)));
  object.put("bytes", both(result.out.bytes, result.err.bytes));
  if (result.output_incomplete) object.put("outputIncomplete", true);
  object.put("limitsReached", limits_reached_json(result.limits_reached));
  object.put("controls", controls_json(result.controls)).put("limits", limits_json(result.limits));
  if (!result.label.empty()) object.put("label", result.label);
  object.put("metrics", metrics_public(result.metrics));
  object.put("record", nullptr);  // records arrive with the ledger
  return object.take();
}

}  // namespace mayfly
