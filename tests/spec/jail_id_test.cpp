#include "jail/spec/jail_id.h"

#include <catch2/catch.hpp>

namespace mayfly {

TEST_CASE("a jail id survives its own text") {
  std::array<std::uint8_t, 16> bits{};
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint8_t>(i * 37 + 11);
  const JailId id(bits);
  CHECK(id.text().size() == JailId::kTextLength);
  CHECK(id.text().substr(0, 2) == "j_");
  const auto parsed = JailId::parse(id.text());
  REQUIRE(parsed);
  CHECK(*parsed == id);
}

TEST_CASE("a text that no jail id writes is refused") {
  const std::string good = JailId(std::array<std::uint8_t, 16>{255, 1, 2}).text();
  CHECK(JailId::parse(good));
  CHECK_FALSE(JailId::parse(""));
  CHECK_FALSE(JailId::parse(good.substr(1)));
  CHECK_FALSE(JailId::parse(good + "a"));
  CHECK_FALSE(JailId::parse("j_" + std::string(25, 'a') + "/"));
  CHECK_FALSE(JailId::parse("j_" + std::string(25, 'a') + "A"));
  CHECK_FALSE(JailId::parse("j_" + std::string(25, 'a') + "7"));  // stray bits in the last character
  CHECK(JailId::parse("j_" + std::string(26, 'a')));
}

}  // namespace mayfly
