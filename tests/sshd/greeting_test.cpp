#include "sshd/session/greeting.h"

#include <catch2/catch.hpp>

using namespace mayfly;

TEST_CASE("the greeting is one line with the jail, its limits and when it goes") {
  Running running;
  running.id = "j_abcdefghijklmnopqrstuvwxyz";
  running.limits = kShellLimits.defaults;
  CHECK(greeting(running, LineEnd::Terminal) ==
        "mayfly: jail j_abcdefghijklmnopqrstuvwxyz, 60 min (15 min idle), 256 MiB memory, 64 MiB disk, 1 CPU, "
        "128 processes, not recorded; gone when you leave, also when your connection drops\r\n");
}

TEST_CASE("the greeting claims no limit that nothing holds", "[P20]") {
  Running running;
  running.limits = kShellLimits.defaults;
  running.controls.set(Control::Memory, Measured::Unlimited);
  CHECK(greeting(running, LineEnd::Plain).find("memory not limited, 64 MiB disk, 1 CPU") != std::string::npos);
  running.controls.set(Control::Memory, Measured::CgroupV2);
  running.controls.set(Control::Cpu, Measured::Unlimited);
  CHECK(greeting(running, LineEnd::Plain).find("256 MiB memory, 64 MiB disk, CPU not limited") != std::string::npos);
}

TEST_CASE("a warning is a line of its own, wherever the cursor stands") {
  CHECK(wall_warning(60_s, LineEnd::Terminal) == "\r\nmayfly: this jail ends in 1 min (time limit)\r\n");
  CHECK(idle_warning(840_s, 60_s, LineEnd::Terminal) ==
        "\r\nmayfly: no input for 14 min; this jail ends in 1 min unless you type\r\n");
}

TEST_CASE("a refusal says why, and when to come back where that helps") {
  Refused refused;
  refused.id = "j_abcdefghijklmnopqrstuvwxyz";
  refused.kind = RefusalKind::Quota;
  refused.text = "more than 20 requests a second";
  const std::string why = "mayfly: ending=refused reason=quota jail=j_abcdefghijklmnopqrstuvwxyz: " + refused.text;
  CHECK(refusal(refused, LineEnd::Plain) == why + "\n");
  for (const auto& [milliseconds, words] :
       {std::pair{1ull, "1 s"}, {1001ull, "2 s"}, {2000ull, "2 s"}, {60'000ull, "1 min"}, {~0ull, "1440 min"}}) {
    refused.retry_after_ms = milliseconds;
    CHECK(refusal(refused, LineEnd::Terminal) == why + "; try again in " + words + "\r\n");
  }
}

TEST_CASE("nothing that another names reaches a terminal unescaped", "[P70]") {
  Refused refused;
  refused.kind = RefusalKind::QueueFull;
  refused.field = "a\x1b[2J";
  refused.text = "b\r\nc\x07";
  const std::string text = refusal(refused, LineEnd::Plain);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\x07') == std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
  CHECK(text.find('\n') == text.size() - 1);
}
