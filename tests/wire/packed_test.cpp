// Rows of numbers and words in one text, and what is made of ill-formed ones; the reports of relays.
#include "jail/wire/packed.h"

#include <catch2/catch.hpp>

#include "jail/wire/relay.h"
#include "jail/wire/result_json.h"

namespace mayfly {

namespace {

Json wire_of(const Result& result) {
  JsonText out;
  put_result(out, result);
  return parse_json(out.take(), kMaxFrameDepth).value();
}

// The tag of what reading "<number> <maybe> <word>" comes to.
std::string read(std::string_view text) {
  PackedReader in(text, "row");
  const auto number = in.number(100);
  if (!number) return "number: " + number.error().subject;
  const auto maybe = in.optional_number(100);
  if (!maybe) return "maybe";
  const auto word = in.word();
  if (!word) return "word";
  if (!in.finish()) return "more";
  return std::to_string(*number) + "/" + (*maybe ? std::to_string(**maybe) : "none") + "/" + std::string(*word);
}

Limits odd_limits() {
  Limits limits;
  limits.wall = Milliseconds{1};
  limits.cpu_time = Milliseconds{2};
  limits.idle = Milliseconds{3};
  limits.memory = Bytes{4};
  limits.processes = 5;
  limits.cpus = MilliCpus{6};
  limits.disk = Bytes{7};
  limits.inodes = 8;
  limits.open_files = 9;
  limits.output_kept = Bytes{10};
  limits.output_ceiling = Bytes{11};
  return limits;
}

}  // namespace

TEST_CASE("a packed row is read as strictly as it was written") {
  CHECK(PackedWriter().put(7u).put(std::optional<std::uint64_t>()).put_word("x").take() == "7 - x");
  CHECK(read("7 - x") == "7/none/x");
  CHECK(read("0 100 -") == "0/100/-");
  for (const char* bad :
       {"", " ", "-", "x 1 x", "101 1 x", "-1 1 x", "+1 1 x", "1.0 1 x", " 1 1 x", "99999999999999999999 1 x"})
    CHECK(read(bad) == "number: row");
  for (const char* bad : {"1", "1 ", "1 x x", "1 101 x", "1 -1 x", "1  1 x"}) CHECK(read(bad) == "maybe");
  for (const char* bad : {"1 1", "1 1 ", "1 -", "1 -  x"}) CHECK(read(bad) == "word");
  for (const char* bad : {"1 1 x ", "1 1 x y", "1 - x -"}) CHECK(read(bad) == "more");
}

TEST_CASE("every limit and control arrives as itself, and none may be missing") {
  const Limits limits = odd_limits();
  const std::string text = limits_wire(limits);
  CHECK(text == "1 2 3 4 5 6 7 8 9 10 11");
  CHECK(limits_wire(*limits_from_wire(text)) == text);
  CHECK(limits_from_wire(text)->idle == limits.idle);
  CHECK(limits_from_wire(text)->output_kept.count == 10);
  CHECK_FALSE(limits_from_wire("1 2 3 4 5 6 7 8 9 10"));
  CHECK_FALSE(limits_from_wire(text + " 12"));
  CHECK_FALSE(limits_from_wire("1 2 3 4 4294967296 6 7 8 9 10 11"));  // processes

  Controls controls;
  controls.set(Control::Network, Measured::None);
  controls.set(Control::Proc, Measured::Private);
  const auto again = controls_from_wire(controls_wire(controls));
  REQUIRE(again);
  CHECK(again->values == controls.values);
  CHECK_FALSE(controls_from_wire("none"));
  CHECK_FALSE(controls_from_wire(controls_wire(controls) + " absent"));
  CHECK(controls_from_wire("safe" + controls_wire(controls).substr(4)).error().subject == "controls.network");
}

TEST_CASE("totals and metrics of a result arrive as they were") {
  Result result;
  result.id = "j_x";
  result.out.bytes = 9;
  result.out.truncated = true;
  result.out.tail = "";
  result.out.sha256[31] = 0xab;
  result.err.tail = "two words";
  result.metrics.queued = Milliseconds{1};
  result.metrics.build = Microseconds{2};
  result.metrics.wall = Microseconds{3};
  result.metrics.closed = Microseconds{4};
  result.metrics.cpu.value = Microseconds{5};
  result.metrics.processes_peak.value = 6;
  result.metrics.memory_peak.why = "no memory controller";
  result.metrics.made_ahead = {"network", "cgroup"};
  result.metrics.step_us.back() = 7;
  const auto again = result_from(wire_of(result));
  REQUIRE(again);
  CHECK(again->out.bytes == 9);
  CHECK(again->out.truncated);
  CHECK(again->out.tail == "");  // there, and empty
  CHECK(again->out.sha256 == result.out.sha256);
  CHECK(again->err.tail == "two words");
  CHECK_FALSE(again->err.truncated);
  CHECK(again->metrics.queued == Milliseconds{1});
  CHECK(again->metrics.build == Microseconds{2});
  CHECK(again->metrics.wall == Microseconds{3});
  CHECK(again->metrics.closed == Microseconds{4});
  CHECK(again->metrics.cpu.value == Microseconds{5});
  CHECK(again->metrics.processes_peak.value == 6u);
  CHECK_FALSE(again->metrics.memory_peak.value);
  CHECK(again->metrics.memory_peak.why == "no memory controller");
  CHECK(again->metrics.made_ahead == result.metrics.made_ahead);
  CHECK(again->metrics.step_us == result.metrics.step_us);
  for (const char* field : {"facts", "out", "err", "controls", "limits", "metrics"}) {
    Json broken = wire_of(result);
    broken[field] = broken[field].get<std::string>() + " surplus";
    CHECK_FALSE(result_from(broken));
    broken[field] = "";
    CHECK_FALSE(result_from(broken));
  }
}

TEST_CASE("what is said of an ending in words and numbers is judged one by one") {
  Result result;
  result.id = "j_x";
  result.ending = Ending::Failed;
  result.failed_step = Step::MountProc;
  result.failed_errno = 12;
  result.limits_reached = {LimitReached::Disk, LimitReached::Output};
  result.output_incomplete = true;
  result.profile = "run";
  result.label = "two words";
  result.environment = {"HOME=/home/run", "LANG=C.UTF-8"};
  const auto again = result_from(wire_of(result));
  REQUIRE(again);
  CHECK(again->ending == Ending::Failed);
  CHECK_FALSE(again->exit_code);
  CHECK_FALSE(again->signal_number);
  CHECK(again->failed_step == Step::MountProc);
  CHECK(again->failed_errno == 12);
  CHECK(again->limits_reached == result.limits_reached);
  CHECK(again->output_incomplete);
  CHECK(again->profile == "run");
  CHECK(again->language.empty());
  CHECK(again->label == "two words");
  CHECK(again->environment == result.environment);
  const auto accepts = [&](const char* facts) {
    Json changed = wire_of(result);
    changed["facts"] = facts;
    return static_cast<bool>(result_from(changed));
  };
  CHECK(accepts("j_x exited 0 - 0 0 - 0 run -"));
  CHECK(accepts("j_x signalled - 9 0 0 memory 0 run python"));
  CHECK_FALSE(accepts((std::string(41, 'j') + " exited 0 - 0 0 - 0 run -").c_str()));
  CHECK_FALSE(accepts(("j_x exited 0 - 0 0 - 0 " + std::string(65, 'r') + " -").c_str()));
  CHECK_FALSE(accepts("j_x vanished 0 - 0 0 - 0 run -"));
  CHECK_FALSE(accepts("j_x exited 256 - 0 0 - 0 run -"));
  CHECK_FALSE(accepts("j_x signalled - 0 0 0 - 0 run -"));
  CHECK_FALSE(accepts("j_x signalled - 128 0 0 - 0 run -"));
  CHECK_FALSE(accepts("j_x failed - - 255 0 - 0 run -"));
  CHECK_FALSE(accepts("j_x failed - - 0 4096 - 0 run -"));
  CHECK_FALSE(accepts("j_x exited 0 - 0 0 luck 0 run -"));
  CHECK_FALSE(accepts("j_x exited 0 - 0 0 - 2 run -"));
}

TEST_CASE("a relay's report without tails travels without the room for them") {
  RelayReport report;
  report.says = RelaySays::Drained;
  report.incomplete = 1;
  report.out.bytes = 3;
  report.err.sha256[0] = 9;
  const auto packed = short_report(report);
  RelayReport again;
  REQUIRE(unpack_report(packed, again));
  CHECK(again.says == RelaySays::Drained);
  CHECK(again.incomplete == 1);
  CHECK(again.out.bytes == 3);
  CHECK(again.err.sha256[0] == 9);

  report.out.tail_length = 1;
  CHECK_FALSE(unpack_report(short_report(report), again));  // it says that there is a tail, and brings none
  RelayReport whole;
  CHECK(unpack_report(std::as_bytes(std::span(&report, 1)), whole));
  CHECK(whole.out.tail_length == 1);
  CHECK_FALSE(unpack_report(std::span(packed).first(packed.size() - 1), again));
  CHECK_FALSE(unpack_report({}, again));
}

}  // namespace mayfly
