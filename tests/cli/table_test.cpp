#include "jail/cli/table.h"

#include <catch2/catch.hpp>

using namespace mayfly;

TEST_CASE("columns are as wide as their widest cell") {
  CHECK(format_table({"ID", "COMMAND"}, {{"j_1", "sleep"}, {"j_22222", "x"}}) ==
        "ID       COMMAND\n"
        "j_1      sleep\n"
        "j_22222  x\n");
}

TEST_CASE("nothing that a jail can name reaches the terminal raw") {
  const std::string text = format_table({"COMMAND"}, {{"\033]0;owned\007\033[2J\nfake row"}});
  CHECK(text.find('\033') == std::string::npos);
  CHECK(text.find('\007') == std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
}

TEST_CASE("sizes and durations are short") {
  CHECK(short_size(0) == "0");
  CHECK(short_size(256ull << 20) == "256M");
  CHECK(short_size(3ull << 29) == "1.5G");
  CHECK(short_size(812'000) == "793K");
  CHECK(short_duration(850) == "850ms");
  CHECK(short_duration(12'400) == "12s");
  CHECK(short_duration(250'000) == "4m10s");
  CHECK(short_duration(7'500'000) == "2h05m");
}
