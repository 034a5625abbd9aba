// What comes out of a jail is foreign, also when we sent the program in: only lines of the exact form count.
#include <catch2/catch.hpp>

#include "jail/probe/containment.h"
#include "jail/probe/probe_report.h"

using namespace mayfly;

TEST_CASE("a line of the probe is an attack, whether it held, and the kernel's word") {
  const ProbeReport report = read_probe_report(
      "{\"attack\":\"network-out\",\"held\":true,\"errno\":\"ENETUNREACH\"}\n"
      "{\"attack\":\"memory\",\"held\":false,\"errno\":\"\"}\n");
  REQUIRE(report.lines.size() == 2);
  CHECK(report.find("network-out")->held);
  CHECK(report.find("network-out")->answer == "ENETUNREACH");
  CHECK_FALSE(report.find("memory")->held);
  CHECK(report.find("mount") == nullptr);
  CHECK(report.dropped == 0);
}

TEST_CASE("a line of any other form is dropped and counted") {
  for (const char* line :
       {"nonsense", "{}", "[]", "{\"attack\":\"x\",\"held\":true}",
        "{\"attack\":\"x\",\"held\":\"yes\",\"errno\":\"\"}",
        "{\"attack\":\"x\",\"held\":true,\"errno\":\"\",\"more\":1}",
        "{\"attack\":\"X;\",\"held\":true,\"errno\":\"\"}", "{\"attack\":\"\",\"held\":true,\"errno\":\"\"}",
        "{\"attack\":\"x\",\"held\":true,\"held\":false,\"errno\":\"\"}"}) {
    INFO(line);
    const ProbeReport report = read_probe_report(std::string(line) + "\n");
    CHECK(report.lines.empty());
    CHECK(report.dropped == 1);
  }
}

TEST_CASE("an attack is told once: what comes later cannot change it") {
  const ProbeReport report = read_probe_report(
      "{\"attack\":\"mount\",\"held\":false,\"errno\":\"\"}\n{\"attack\":\"mount\",\"held\":true,\"errno\":\"EPERM\"}"
      "\n");
  REQUIRE(report.lines.size() == 1);
  CHECK_FALSE(report.lines[0].held);
  CHECK(report.dropped == 1);
}

TEST_CASE("an endless or empty report is bounded") {
  CHECK(read_probe_report("").lines.empty());
  CHECK(read_probe_report(std::string(100'000, 'x')).dropped == 1);
  std::string many;
  for (int i = 0; i < 500; ++i) many += "{\"attack\":\"a" + std::to_string(i) + "\",\"held\":true,\"errno\":\"\"}\n";
  CHECK(read_probe_report(many).lines.size() == 200);
}

namespace {

Containment sample() {
  Containment found;
  found.host.kernel = "6.1.0\x1b[31m";
  found.host.cgroups = "none";
  found.host.controls = {{Control::Memory, Measured::Unlimited, "no cgroups", "sudo mayfly serve"}};
  found.host.required.add(Control::Network);
  found.controls.set(Control::Network, Measured::None);
  found.controls.set(Control::Memory, Measured::Unlimited);
  found.attacks = {{"network-out", AttackVerdict::Held, "ENETUNREACH", "works"},
                   {"read-shadow", AttackVerdict::NotProvable, "ENOENT", "EACCES"},
                   {"memory", AttackVerdict::Unlimited, "not tried", "not tried"}};
  return found;
}

}  // namespace

TEST_CASE("an examination is told in JSON with the values, causes and fixes") {
  Containment found = sample();
  found.host.kernel = "6.1.0";
  const Json json = containment_json(found);
  CHECK(json["sound"] == true);
  CHECK(json["controls"]["network"] == "none");
  CHECK(json["expected"]["memory"]["fix"] == "sudo mayfly serve");
  CHECK(json["required"] == Json::array({"network"}));
  CHECK(json["attacks"][1]["verdict"] == "not-provable");
  CHECK(json["problems"].empty());
}

TEST_CASE("an examination is told in text without a foreign byte, and a problem is not overlooked") {
  Containment found = sample();
  CHECK(containment_text(found).find('\x1b') == std::string::npos);
  CHECK(containment_text(found).find("0 got through, 1 held, 2 not provable here") != std::string::npos);
  CHECK(containment_text(found).find("fix: sudo mayfly serve") != std::string::npos);
  CHECK(containment_text(found).find("Everything is as it is reported") != std::string::npos);
  found.problems.emplace_back("the attack mount was not held");
  CHECK(containment_text(found).find("PROBLEM: the attack mount was not held") != std::string::npos);
  CHECK(containment_text(found).find("Everything") == std::string::npos);
}
