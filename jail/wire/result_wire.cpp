// A result as a message: everything, lossless; what has many members is packed.
#include <algorithm>
#include <charconv>
#include <limits>

#include "jail/wire/packed.h"
#include "jail/wire/result_json.h"

namespace mayfly {

namespace {

constexpr std::uint64_t kAny = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kMostPacked = 2000, kMostTotals = 17'000;  // bytes of a packed text

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

Expected<std::array<std::uint8_t, 32>> digest_from(std::string_view text, const std::string& field) {
  std::array<std::uint8_t, 32> bytes{};
  if (text.size() != 64 || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    return failure("read field", 0, field, "64 hexadecimal digits are needed");
  for (std::size_t i = 0; i < bytes.size(); ++i)
    std::from_chars(text.data() + 2 * i, text.data() + 2 * i + 2, bytes[i], 16);
  return bytes;
}

std::string totals_wire(const StreamTotals& totals) {
  PackedWriter out;
  out.put(totals.bytes).put(totals.truncated ? 1u : 0u).put_word(hex(totals.sha256));
  if (totals.tail) out.put_word("t" + base64(*totals.tail));  // a tail may be empty, a word may not
  return out.take();
}

Expected<StreamTotals> totals_from(std::string_view text, const std::string& where) {
  PackedReader in(text, where);
  StreamTotals totals;
  totals.bytes = TRY(in.number(kAny));
  totals.truncated = TRY(in.number(1)) != 0;
  totals.sha256 = TRY(digest_from(TRY(in.word()), where));
  if (in.finish()) return totals;
  const std::string_view tail = TRY(in.word());
  if (!tail.starts_with('t')) return failure("read field", 0, where, "a tail begins with t");
  totals.tail = TRY(from_base64(tail.substr(1)));
  TRY(in.finish());
  return totals;
}

template <typename T, typename Number>
std::optional<std::uint64_t> number_of(const Measurement<T>& measurement, Number number) {
  if (!measurement.value) return std::nullopt;
  return static_cast<std::uint64_t>(number(*measurement.value));
}

std::string parts_text(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ",") + part;
  return text.empty() ? "-" : text;
}

std::vector<std::string> parts_from(std::string_view text) {
  std::vector<std::string> parts;
  if (text == "-") return parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// Why something was not measured is text of its own: put_why().
std::string metrics_wire(const Metrics& metrics) {
  PackedWriter out;
  for (const std::int64_t time :
       {metrics.queued.count(), metrics.build.count(), metrics.wall.count(), metrics.closed.count()})
    out.put(static_cast<std::uint64_t>(std::max<std::int64_t>(0, time)));
  out.put(number_of(metrics.cpu, [](Microseconds t) { return t.count(); }));
  out.put(number_of(metrics.memory_peak, [](Bytes b) { return b.count; }));
  out.put(number_of(metrics.processes_peak, [](std::uint32_t n) { return n; }));
  out.put_word(parts_text(metrics.made_ahead));
  for (const std::uint32_t time : metrics.step_us) out.put(time);
  return out.take();
}

Expected<Metrics> metrics_from(std::string_view text) {
  PackedReader in(text, "metrics");
  Metrics metrics;
  const auto us = [](std::uint64_t n) { return Microseconds{static_cast<std::int64_t>(n)}; };
  metrics.queued = Milliseconds{static_cast<std::int64_t>(TRY(in.number(kAny)))};
  metrics.build = us(TRY(in.number(kAny)));
  metrics.wall = us(TRY(in.number(kAny)));
  metrics.closed = us(TRY(in.number(kAny)));
  if (const auto cpu = TRY(in.optional_number(kAny))) metrics.cpu.value = us(*cpu);
  if (const auto memory = TRY(in.optional_number(kAny))) metrics.memory_peak.value = Bytes{*memory};
  if (const auto most = TRY(in.optional_number(UINT32_MAX)))
    metrics.processes_peak.value = static_cast<std::uint32_t>(*most);
  metrics.made_ahead = parts_from(TRY(in.word()));
  for (std::uint32_t& time : metrics.step_us) time = static_cast<std::uint32_t>(TRY(in.number(UINT32_MAX)));
  TRY(in.finish());
  return metrics;
}

void put_why(JsonText& out, const Metrics& metrics) {
  out.open("why").put("cpu", metrics.cpu.why).put("memoryPeak", metrics.memory_peak.why);
  out.put("processesPeak", metrics.processes_peak.why).close();
}

bool has_why(const Metrics& metrics) {
  return !metrics.cpu.why.empty() || !metrics.memory_peak.why.empty() || !metrics.processes_peak.why.empty();
}

Expected<void> read_why(const Json* object, Metrics& into) {
  if (object == nullptr) return {};
  JsonReader in(*object, "why");
  into.cpu.why = TRY(in.text("cpu", 400));
  into.memory_peak.why = TRY(in.text("memoryPeak", 400));
  into.processes_peak.why = TRY(in.text("processesPeak", 400));
  return in.finish();
}

Expected<std::vector<std::string>> text_list_from(JsonReader& in, const char* key) {
  std::vector<std::string> items;
  if (const Json* list = TRY(in.optional_array(key, 64)))
    for (const Json& item : *list) {
      if (!item.is_string()) return failure("read field", 0, key, "a list of strings is needed");
      items.push_back(item.get<std::string>());
    }
  return items;
}

std::vector<std::string> reached_names(const std::vector<LimitReached>& reached) {
  std::vector<std::string> names;
  for (const LimitReached limit : reached) names.emplace_back(name(limit));
  return names;
}

Expected<std::vector<LimitReached>> reached_from(std::string_view text) {
  std::vector<LimitReached> reached;
  for (const std::string& word : parts_from(text)) {
    bool known = false;
    for (std::uint8_t i = 0; i < 5; ++i)
      if (name(static_cast<LimitReached>(i)) == word) {
        reached.push_back(static_cast<LimitReached>(i));
        known = true;
      }
    if (!known) return failure("read field", 0, "facts", "unknown limit");
  }
  return reached;
}

std::string_view word_or_none(std::string_view word) { return word.empty() ? "-" : word; }

Expected<std::string> none_or_word(std::string_view word, std::size_t most_bytes) {
  if (word.size() > most_bytes)
    return failure("read field", 0, "facts", "a word of at most " + std::to_string(most_bytes) + " bytes is needed");
  return word == "-" ? std::string() : std::string(word);
}

// What is a word or a number; an empty word is "-". Ids are ours, names of profiles and languages are judged when the
// catalogue is read (supervisor_config.cpp): no spaces, not "-".
std::string facts_wire(const Result& result) {
  const auto number = [](const std::optional<int>& value) {
    return value ? std::optional<std::uint64_t>(static_cast<std::uint64_t>(*value)) : std::nullopt;
  };
  return PackedWriter()
      .put_word(word_or_none(result.id))
      .put_word(name(result.ending))
      .put(number(result.exit_code))
      .put(number(result.signal_number))
      .put(static_cast<std::uint64_t>(result.failed_step))
      .put(static_cast<std::uint64_t>(result.failed_errno))
      .put_word(parts_text(reached_names(result.limits_reached)))
      .put(result.output_incomplete ? 1u : 0u)
      .put_word(word_or_none(result.profile))
      .put_word(word_or_none(result.language))
      .take();
}

Expected<void> read_facts(std::string_view text, Result& result) {
  PackedReader in(text, "facts");
  const auto small = [](const std::optional<std::uint64_t>& value) {
    return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
  };
  result.id = TRY(none_or_word(TRY(in.word()), 40));
  const auto ending = ending_named(TRY(in.word()));
  if (!ending) return failure("read field", 0, "facts", "unknown ending");
  result.ending = *ending;
  result.exit_code = small(TRY(in.optional_number(255)));
  result.signal_number = small(TRY(in.optional_number(127)));
  if (result.signal_number == 0) return failure("read field", 0, "facts", "there is no signal 0");
  result.failed_step = static_cast<Step>(TRY(in.number(kStepCount - 1)));
  result.failed_errno = static_cast<int>(TRY(in.number(kMaxErrno)));
  result.limits_reached = TRY(reached_from(TRY(in.word())));
  result.output_incomplete = TRY(in.number(1)) != 0;
  result.profile = TRY(none_or_word(TRY(in.word()), 64));
  result.language = TRY(none_or_word(TRY(in.word()), 64));
  return in.finish();
}

}  // namespace

std::string controls_wire(const Controls& controls) {
  PackedWriter out;
  for (const Control control : kAllControls) out.put_word(name(controls.at(control)));
  return out.take();
}

Expected<Controls> controls_from_wire(std::string_view text) {
  PackedReader in(text, "controls");
  Controls controls;
  for (const Control control : kAllControls) {
    const auto word = measured_named(TRY(in.word()));
    if (!word) return failure("read field", 0, "controls." + std::string(name(control)), "unknown word");
    controls.set(control, *word);
  }
  TRY(in.finish());
  return controls;
}

std::string limits_wire(const Limits& limits) {
  const auto ms = [](Milliseconds time) { return static_cast<std::uint64_t>(time.count()); };
  return PackedWriter()
      .put(ms(limits.wall))
      .put(ms(limits.cpu_time))
      .put(ms(limits.idle))
      .put(limits.memory.count)
      .put(limits.processes)
      .put(limits.cpus.count)
      .put(limits.disk.count)
      .put(limits.inodes)
      .put(limits.open_files)
      .put(limits.output_kept.count)
      .put(limits.output_ceiling.count)
      .take();
}

Expected<Limits> limits_from_wire(std::string_view text) {
  PackedReader in(text, "limits");
  Limits limits;
  for (Milliseconds* time : {&limits.wall, &limits.cpu_time, &limits.idle})
    *time = Milliseconds{static_cast<std::int64_t>(TRY(in.number(kAny)))};
  const auto small = [&]() -> Expected<std::uint32_t> {
    return static_cast<std::uint32_t>(TRY(in.number(UINT32_MAX)));
  };
  limits.memory.count = TRY(in.number(kAny));
  limits.processes = TRY(small());
  limits.cpus.count = TRY(small());
  limits.disk.count = TRY(in.number(kAny));
  limits.inodes = TRY(small());
  limits.open_files = TRY(small());
  limits.output_kept.count = TRY(in.number(kAny));
  limits.output_ceiling.count = TRY(in.number(kAny));
  TRY(in.finish());
  return limits;
}

void put_result(JsonText& out, const Result& result, WireForm form) {
  out.put("facts", facts_wire(result)).put("text", result.text);
  out.put("out", totals_wire(result.out)).put("err", totals_wire(result.err));
  if (form == WireForm::Whole)
    out.put("controls", controls_wire(result.controls)).put("limits", limits_wire(result.limits));
  out.put("metrics", metrics_wire(result.metrics));
  out.open_list("environment");
  for (const std::string& entry : result.environment) out.item(entry);
  out.close_list();
  if (!result.folders.empty()) {
    out.open_list("folders");
    for (const std::string& folder : result.folders) out.item(folder);
    out.close_list();
  }
  if (!result.label.empty()) out.put("label", result.label);
  if (has_why(result.metrics)) put_why(out, result.metrics);
}

Expected<Result> result_from(const Json& object, WireForm form) {
  JsonReader in(object, "");
  Result result;
  TRY(read_facts(TRY(in.text("facts", kMostPacked)), result));
  result.text = TRY(in.text("text", 1000));
  result.out = TRY(totals_from(TRY(in.text("out", kMostTotals)), "out"));
  result.err = TRY(totals_from(TRY(in.text("err", kMostTotals)), "err"));
  if (form == WireForm::Whole) {
    result.controls = TRY(controls_from_wire(TRY(in.text("controls", kMostPacked))));
    result.limits = TRY(limits_from_wire(TRY(in.text("limits", kMostPacked))));
  }
  result.metrics = TRY(metrics_from(TRY(in.text("metrics", kMostPacked))));
  result.environment = TRY(text_list_from(in, "environment"));
  result.folders = TRY(text_list_from(in, "folders"));
  result.label = TRY(in.optional_text("label", 1024)).value_or("");
  TRY(read_why(TRY(in.optional_object("why")), result.metrics));
  TRY(in.finish());
  return result;
}

}  // namespace mayfly
