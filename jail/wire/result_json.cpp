#include "jail/wire/result_json.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "jail/spec/escape.h"

namespace mayfly {

namespace {

constexpr std::uint64_t kAny = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kRuntime = "mayfly";

std::string hex(const std::array<std::uint8_t, 32>& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Expected<std::array<std::uint8_t, 32>> digest_from(const std::string& text, const std::string& field) {
  std::array<std::uint8_t, 32> bytes{};
  if (text.size() != 64 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    return failure("read field", 0, field, "64 hexadecimal digits are needed");
  for (std::size_t i = 0; i < bytes.size(); ++i)
    std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, bytes[i], 16);
  return bytes;
}

double to_ms(Microseconds time) { return static_cast<double>(time.count()) / 1000.0; }

template <typename T, typename Number>
Json measured(const Measurement<T>& measurement, Number number) {
  return measurement.value ? Json(number(*measurement.value)) : Json(nullptr);
}

Json totals_wire(const StreamTotals& totals) {
  JsonObject object;
  object.put("bytes", totals.bytes).put("sha256", hex(totals.sha256)).put("truncated", totals.truncated);
  if (totals.tail) object.put("tail", base64(*totals.tail));
  return object.take();
}

Expected<StreamTotals> totals_from(const Json& object, const std::string& where) {
  JsonReader in(object, where);
  StreamTotals totals;
  totals.bytes = TRY(in.number("bytes", 0, kAny));
  totals.sha256 = TRY(digest_from(TRY(in.text("sha256", 64)), where + ".sha256"));
  totals.truncated = TRY(in.boolean("truncated", false));
  if (const auto tail = TRY(in.optional_text("tail", 16384))) totals.tail = TRY(from_base64(*tail));
  TRY(in.finish());
  return totals;
}

template <typename T, typename Number>
Json measurement_wire(const Measurement<T>& measurement, Number number) {
  JsonObject entry;
  if (measurement.value) entry.put("value", number(*measurement.value));
  if (!measurement.why.empty()) entry.put("why", measurement.why);
  return entry.take();
}

template <typename T, typename Make>
Expected<Measurement<T>> measurement_from(JsonReader& in, const char* key, Make make) {
  const Json* object = TRY(in.object(key));
  JsonReader entry(*object, in.path(key));
  Measurement<T> measurement;
  if (const auto value = TRY(entry.optional_number("value", 0, kAny))) measurement.value = make(*value);
  measurement.why = TRY(entry.optional_text("why", 400)).value_or("");
  TRY(entry.finish());
  return measurement;
}

using StepTimes = decltype(Metrics::step_us);

// One text, "5 0 128 ...": thirty numbers of their own would be a third of the message's tree. "" where no step was
// taken.
std::string steps_text(const StepTimes& times) {
  std::string text;
  if (times == StepTimes{}) return text;
  for (const std::uint32_t time : times) text.append(std::to_string(time)).push_back(' ');
  text.pop_back();
  return text;
}

Expected<void> read_steps(std::string_view text, StepTimes& into) {
  if (text.empty()) return {};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (std::size_t i = 0; i < into.size(); ++i) {
    if (i > 0 && (at == end || *at++ != ' ')) return failure("read field", 0, "metrics.stepUs", "too few numbers");
    const auto [stop, error] = std::from_chars(at, end, into[i]);
    if (error != std::errc()) return failure("read field", 0, "metrics.stepUs", "whole numbers are needed");
    at = stop;
  }
  if (at != end) return failure("read field", 0, "metrics.stepUs", "too many numbers");
  return {};
}

Json metrics_wire(const Metrics& metrics) {
  return JsonObject()
      .put("queuedMs", metrics.queued.count())
      .put("buildUs", metrics.build.count())
      .put("wallUs", metrics.wall.count())
      .put("closedUs", metrics.closed.count())
      .put("cpuUs", measurement_wire(metrics.cpu, [](Microseconds t) { return t.count(); }))
      .put("memoryPeak", measurement_wire(metrics.memory_peak, [](Bytes b) { return b.count; }))
      .put("processesPeak", measurement_wire(metrics.processes_peak, [](std::uint32_t n) { return n; }))
      .put("madeAhead", metrics.made_ahead)
      .put("stepUs", steps_text(metrics.step_us))
      .take();
}

Expected<Metrics> metrics_from(const Json& object) {
  JsonReader in(object, "metrics");
  Metrics metrics;
  const auto us = [](std::uint64_t n) { return Microseconds{static_cast<std::int64_t>(n)}; };
  metrics.queued = Milliseconds{static_cast<std::int64_t>(TRY(in.number("queuedMs", 0, kAny)))};
  metrics.build = us(TRY(in.number("buildUs", 0, kAny)));
  metrics.wall = us(TRY(in.number("wallUs", 0, kAny)));
  metrics.closed = us(TRY(in.number("closedUs", 0, kAny)));
  metrics.cpu = TRY(measurement_from<Microseconds>(in, "cpuUs", us));
  metrics.memory_peak = TRY(measurement_from<Bytes>(in, "memoryPeak", [](std::uint64_t n) { return Bytes{n}; }));
  metrics.processes_peak = TRY(measurement_from<std::uint32_t>(
      in, "processesPeak", [](std::uint64_t n) { return static_cast<std::uint32_t>(n); }));
  if (const Json* ahead = TRY(in.optional_array("madeAhead", 8)))
    for (const Json& part : *ahead)
      if (part.is_string()) metrics.made_ahead.push_back(part.get<std::string>());
  TRY(read_steps(TRY(in.text("stepUs", kStepCount * 11)), metrics.step_us));
  TRY(in.finish());
  return metrics;
}

Json text_list(const std::vector<std::string>& items) { return Json(items); }

Expected<std::vector<std::string>> text_list_from(JsonReader& in, const char* key) {
  std::vector<std::string> items;
  if (const Json* list = TRY(in.optional_array(key, 64)))
    for (const Json& item : *list) {
      if (!item.is_string()) return failure("read field", 0, key, "a list of strings is needed");
      items.push_back(item.get<std::string>());
    }
  return items;
}

Json reached_json(const std::vector<LimitReached>& reached) {
  Json list = Json::array();
  for (const LimitReached limit : reached) list.push_back(name(limit));
  return list;
}

Expected<std::vector<LimitReached>> reached_from(JsonReader& in) {
  std::vector<LimitReached> reached;
  for (const std::string& word : TRY(text_list_from(in, "limitsReached"))) {
    bool known = false;
    for (std::uint8_t i = 0; i < 5; ++i)
      if (name(static_cast<LimitReached>(i)) == word) {
        reached.push_back(static_cast<LimitReached>(i));
        known = true;
      }
    if (!known) return failure("read field", 0, "limitsReached", "unknown limit");
  }
  return reached;
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
      .put("madeAhead", text_list(metrics.made_ahead))
      .take();
}

}  // namespace

Json controls_json(const Controls& controls) {
  JsonObject object;
  for (const Control control : kAllControls) object.put(name(control), name(controls.at(control)));
  return object.take();
}

Expected<Controls> controls_from(const Json& object) {
  JsonReader in(object, "controls");
  Controls controls;
  for (const Control control : kAllControls) {
    const std::string word = TRY(in.text(name(control), 40));
    bool known = false;
    for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(Measured::Private); ++i)
      if (name(static_cast<Measured>(i)) == word) {
        controls.set(control, static_cast<Measured>(i));
        known = true;
      }
    if (!known) return failure("read field", 0, in.path(name(control)), "unknown word");
  }
  TRY(in.finish());
  return controls;
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

Json result_wire(const Result& result, WireForm form) {
  JsonObject object;
  object.put("id", result.id).put("ending", name(result.ending)).put("text", result.text);
  if (result.exit_code) object.put("exitCode", *result.exit_code);
  if (result.signal_number) object.put("signal", *result.signal_number);
  if (result.failed_step != Step::None || result.failed_errno != 0)
    object.put("failedStep", static_cast<unsigned>(result.failed_step)).put("failedErrno", result.failed_errno);
  object.put("limitsReached", reached_json(result.limits_reached))
      .put("outputIncomplete", result.output_incomplete)
      .put("out", totals_wire(result.out))
      .put("err", totals_wire(result.err));
  if (form == WireForm::Whole)
    object.put("controls", controls_json(result.controls)).put("limits", limits_json(result.limits));
  object.put("environment", text_list(result.environment))
      .put("profile", result.profile)
      .put("language", result.language)
      .put("label", result.label)
      .put("metrics", metrics_wire(result.metrics));
  return object.take();
}

Expected<Result> result_from(const Json& object, WireForm form) {
  JsonReader in(object, "");
  Result result;
  result.id = TRY(in.text("id", 40));
  const auto ending = ending_named(TRY(in.text("ending", 20)));
  if (!ending) return failure("read field", 0, "ending", "unknown ending");
  result.ending = *ending;
  result.text = TRY(in.text("text", 1000));
  if (const auto code = TRY(in.optional_number("exitCode", 0, 255))) result.exit_code = static_cast<int>(*code);
  if (const auto signal = TRY(in.optional_number("signal", 1, 127))) result.signal_number = static_cast<int>(*signal);
  result.failed_step = static_cast<Step>(TRY(in.optional_number("failedStep", 0, kStepCount - 1)).value_or(0));
  result.failed_errno = static_cast<int>(TRY(in.optional_number("failedErrno", 0, kMaxErrno)).value_or(0));
  result.limits_reached = TRY(reached_from(in));
  result.output_incomplete = TRY(in.boolean("outputIncomplete", false));
  result.out = TRY(totals_from(*TRY(in.object("out")), "out"));
  result.err = TRY(totals_from(*TRY(in.object("err")), "err"));
  if (form == WireForm::Whole) {
    result.controls = TRY(controls_from(*TRY(in.object("controls"))));
    result.limits = TRY(limits_from(*TRY(in.object("limits"))));
  }
  result.environment = TRY(text_list_from(in, "environment"));
  result.profile = TRY(in.text("profile", 64));
  result.language = TRY(in.text("language", 64));
  result.label = TRY(in.text("label", 1024));
  result.metrics = TRY(metrics_from(*TRY(in.object("metrics"))));
  TRY(in.finish());
  return result;
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
  object.put("limitsReached", reached_json(result.limits_reached));
  object.put("controls", controls_json(result.controls)).put("limits", limits_json(result.limits));
  if (!result.label.empty()) object.put("label", result.label);
  object.put("metrics", metrics_public(result.metrics));
  object.put("record", nullptr);  // records arrive with the ledger
  return object.take();
}

}  // namespace mayfly
