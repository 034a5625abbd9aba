#include "jail/cli/units_text.h"

#include <catch2/catch.hpp>

using namespace mayfly;

TEST_CASE("sizes are read in powers of 1024, with or without a unit") {
  CHECK(parse_size("256M").value() == 256ull << 20);
  CHECK(parse_size("256MiB").value() == 256ull << 20);
  CHECK(parse_size("256mb").value() == 256ull << 20);
  CHECK(parse_size("1.5G").value() == 3ull << 29);
  CHECK(parse_size("64k").value() == 65536);
  CHECK(parse_size("4096").value() == 4096);
  CHECK(parse_size("0").value() == 0);
}

TEST_CASE("durations are seconds unless they say otherwise") {
  CHECK(parse_duration_ms("10s").value() == 10'000);
  CHECK(parse_duration_ms("1.5").value() == 1500);
  CHECK(parse_duration_ms("500ms").value() == 500);
  CHECK(parse_duration_ms("2m").value() == 120'000);
  CHECK(parse_duration_ms("1h").value() == 3'600'000);
}

TEST_CASE("what is no number, no unit or no sense is refused with the forms that are understood") {
  for (const char* text :
       {"", "M", "ten", "-1", "1e9", "1..5", "5x", "1 G", "nan", "inf", "0x10", "99999999999999999999T"}) {
    INFO(text);
    const auto size = parse_size(text);
    REQUIRE_FALSE(size);
    CHECK(size.error().why.find("256M") != std::string::npos);
    const auto time = parse_duration_ms(text);
    REQUIRE_FALSE(time);
    CHECK(time.error().why.find("10s") != std::string::npos);
  }
  CHECK_FALSE(parse_cpus("1c"));
  CHECK_FALSE(parse_count("1.5"));
  CHECK_FALSE(parse_count("-3"));
  CHECK_FALSE(parse_count(""));
}

TEST_CASE("processors may be a fraction and counts are whole") {
  CHECK(parse_cpus("0.5").value() == 0.5);
  CHECK(parse_cpus("2").value() == 2.0);
  CHECK(parse_count("64").value() == 64);
}
