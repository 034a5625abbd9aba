#include "jail/wire/result_json.h"

#include <catch2/catch.hpp>

namespace mayfly {

namespace {

Result exited(int code) {
  Result result;
  result.id = "j_a";
  result.ending = Ending::Exited;
  result.exit_code = code;
  result.language = "python";
  result.limits = kApiLimits.defaults;
  return result;
}

Json public_json(const Result& result, const Captured& captured, std::string_view version) {
  const auto read = parse_json(result_public(result, captured, version), 8);
  REQUIRE(read);
  return *read;
}

}  // namespace

TEST_CASE("the public result has the fields that users rely on", "[P31]") {
  Result result = exited(0);
  result.controls.set(Control::Network, Measured::None);
  const Json json = public_json(result, {"45\n", ""}, "3.11.2");
  CHECK(json["stdout"] == "45\n");
  CHECK(json["exitCode"] == 0);
  CHECK(json["signal"] == nullptr);
  CHECK(json["timedOut"] == false);
  CHECK(json["runtime"] == "mayfly");
  CHECK(json["controls"]["network"] == "none");
  CHECK(json["encoding"]["stdout"] == "utf-8");
  CHECK(json["record"] == nullptr);
  CHECK(json["languageVersion"] == "3.11.2");
}

TEST_CASE("an exit code is only told of a program that exited by itself", "[P31]") {
  Result result = exited(0);
  result.ending = Ending::TimeLimit;
  CHECK(public_json(result, {}, "")["exitCode"] == nullptr);
  CHECK(public_json(result, {}, "")["timedOut"] == true);
  result.ending = Ending::Signalled;
  result.exit_code.reset();
  result.signal_number = 11;
  CHECK(public_json(result, {}, "")["signal"] == "SIGSEGV");
}

TEST_CASE("bytes that are not UTF-8 come as base64, and the encoding says so") {
  const Json json = public_json(exited(0), {std::string("\xff\x00", 2), "ok"}, "");
  CHECK(json["stdout"] == "/wA=");
  CHECK(json["encoding"]["stdout"] == "base64");
  CHECK(json["encoding"]["stderr"] == "utf-8");
}

TEST_CASE("a cut falls on a character boundary on both sides", "[P34]") {
  Result result = exited(0);
  result.out.truncated = true;
  result.out.bytes = 100;
  result.out.tail = "\x82\xac end";  // the last two bytes of a euro sign
  const Json json = public_json(result, {"head \xe2", ""}, "");
  CHECK(json["stdout"] == "head ");
  CHECK(json["tail"]["stdout"] == " end");
  CHECK(json["truncated"]["stdout"] == true);
  CHECK(json["bytes"]["stdout"] == 100);
}

TEST_CASE("a tail that is not text takes its stream to base64 with it") {
  Result result = exited(0);
  result.out.truncated = true;
  result.out.tail = "\xff\xff\xff\xff\xff";
  const Json json = public_json(result, {"head", ""}, "");
  CHECK(json["encoding"]["stdout"] == "base64");
  CHECK(*from_base64(json["stdout"].get<std::string>()) == "head");
}

TEST_CASE("base64 is strict") {
  CHECK(base64("") == "");
  CHECK(base64("a") == "YQ==");
  CHECK(*from_base64("YQ==") == "a");
  CHECK(*from_base64("") == "");
  for (const char* bad : {"Y", "YQ", "YQ=", "YQ== ", " YQ=", "Y===", "YQ==YQ==", "Y*==", "YQ=Q"})
    CHECK_FALSE(from_base64(bad));
}

TEST_CASE("a limit that nothing holds is null, and so is all of a jail that never came to its gate", "[P20]") {
  Result result = exited(0);
  CHECK(public_json(result, {}, "")["controls"] == nullptr);
  CHECK(public_json(result, {}, "")["limits"] == nullptr);
  CHECK(public_json(result, {}, "")["environment"] == nullptr);
  CHECK(public_json(result, {}, "")["folders"] == nullptr);
  result.controls.set(Control::Memory, Measured::Unlimited);
  result.controls.set(Control::Cpu, Measured::CgroupV1);
  result.environment = {"HOME=/home/run", "PYTHONHASHSEED=0"};
  CHECK(public_json(result, {}, "")["folders"] == Json::array());
  result.folders = {"seed", "readonly"};
  Json json = public_json(result, {}, "");
  CHECK(json["controls"]["memory"] == "unlimited");
  CHECK(json["limits"]["memoryBytes"] == nullptr);
  CHECK(json["limits"]["cpus"] == 1.0);
  CHECK(json["limits"]["wallMs"] == kApiLimits.defaults.wall.count());
  CHECK(json["environment"] == Json::array({"HOME=/home/run", "PYTHONHASHSEED=0"}));
  CHECK(json["folders"] == Json::array({"seed", "readonly"}));
  result.controls.set(Control::Memory, Measured::CgroupV1);
  result.controls.set(Control::Cpu, Measured::Unlimited);
  json = public_json(result, {}, "");
  CHECK(json["limits"]["memoryBytes"] == kApiLimits.defaults.memory.count);
  CHECK(json["limits"]["cpus"] == nullptr);
}

TEST_CASE("an unknown measurement is null in public") {
  Result result = exited(0);
  result.metrics.memory_peak.why = "the kernel has no memory.peak";
  CHECK(public_json(result, {}, "")["metrics"]["memoryPeakBytes"] == nullptr);
}

}  // namespace mayfly
