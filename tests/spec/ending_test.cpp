#include "jail/spec/ending.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <set>

#include "jail/spec/result.h"

namespace mayfly {

TEST_CASE("every ending has a word of its own that reads back") {
  std::set<std::string_view> words;
  for (const Ending ending : kAllEndings) {
    CHECK(words.insert(name(ending)).second);
    CHECK(ending_named(name(ending)) == ending);
  }
  CHECK(words.size() == 14);
  CHECK_FALSE(ending_named("timeout"));
}

TEST_CASE("reserved exit statuses tell time, memory and our own failure apart") {
  CHECK_FALSE(reserved_exit_status(Ending::Exited));
  CHECK_FALSE(reserved_exit_status(Ending::Signalled));
  CHECK(reserved_exit_status(Ending::TimeLimit) == 124);
  CHECK(reserved_exit_status(Ending::IdleLimit) == 124);
  CHECK(reserved_exit_status(Ending::CpuLimit) == 124);
  CHECK(reserved_exit_status(Ending::MemoryLimit) == 137);
  for (const Ending ending : {Ending::OutputLimit, Ending::Cancelled, Ending::Disconnected, Ending::Killed,
                              Ending::Shutdown, Ending::Refused, Ending::Failed, Ending::Lost})
    CHECK(reserved_exit_status(ending) == 125);
  for (const Ending ending : kAllEndings) CHECK(is_timed_out(ending) == (reserved_exit_status(ending) == 124));
}

TEST_CASE("every signal has a name that reads back") {
  for (int number = 1; number <= 64; ++number) {
    if (number == 32 || number == 33) continue;  // the C library's own
    const std::string text = signal_name(number);
    REQUIRE(text.substr(0, 3) == "SIG");
    CHECK(signal_number(text.substr(3)) == number);
  }
  CHECK(signal_name(SIGSEGV) == "SIGSEGV");
  CHECK(signal_name(37) == "SIGRTMIN+3");
  CHECK_FALSE(signal_number("RTMIN+31"));
  CHECK_FALSE(signal_number("RTMIN+"));
  CHECK_FALSE(signal_number("SIGTERM"));
}

TEST_CASE("the reason line has its fixed form and stays one line") {
  Result result;
  result.id = "j_abc";
  result.ending = Ending::TimeLimit;
  result.text = "ran for 1.0 s,\nthe limit";
  CHECK(reason_line(result) == "mayfly: ending=time-limit jail=j_abc: ran for 1.0 s,\\nthe limit");
  result.ending = Ending::Signalled;
  result.signal_number = SIGKILL;
  result.text.clear();
  CHECK(reason_line(result) == "mayfly: ending=signalled signal=SIGKILL jail=j_abc");
}

}  // namespace mayfly
