// JsonText writes what the library would have written.
#include "jail/wire/json_text.h"

#include <catch2/catch.hpp>
#include <limits>

#include "jail/wire/frame.h"

namespace mayfly {

namespace {

std::string by_library(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string string_of(std::string_view bytes) {
  std::string text;
  append_json_string(text, bytes);
  return text;
}

}  // namespace

TEST_CASE("every byte of a string is escaped as the library does it") {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes = std::string("a") + static_cast<char>(byte) + "z";
    CAPTURE(byte);
    CHECK(string_of(bytes) == by_library(Json(bytes)));
  }
}

TEST_CASE("strings come back as they went") {
  for (const std::string& bytes :
       {std::string(), std::string("1\n"), std::string("\"\\/\b\f\n\r\t"), std::string("\0\x01\x1f\x7f", 4),
        std::string("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"), std::string(100'000, '\\')}) {
    CHECK(string_of(bytes) == by_library(Json(bytes)));
    CHECK(Json::parse(string_of(bytes)).get<std::string>() == bytes);
  }
}

TEST_CASE("bytes that are not UTF-8 are replaced, and the text stays JSON") {
  for (const std::string& bytes : {std::string("\xff"), std::string("a\xc3"), std::string("\xed\xa0\x80\"\n")}) {
    CHECK(string_of(bytes) == by_library(Json(bytes)));
    CHECK_NOTHROW(Json::parse(string_of(bytes)));
  }
}

TEST_CASE("an object is written member by member, in order") {
  JsonText out;
  out.put("text", "x").put("yes", true).put("nothing", nullptr).put("most", std::numeric_limits<std::uint64_t>::max());
  out.put("least", std::numeric_limits<std::int64_t>::min()).open("inner").put("a", 1).open("empty").close().close();
  out.open_list("none").close_list().open_list("two").item("one {").item("two [").close_list().put("last", 'x' == 'y');
  CHECK(out.take() ==
        R"({"text":"x","yes":true,"nothing":null,"most":18446744073709551615,"least":-9223372036854775808,)"
        R"("inner":{"a":1,"empty":{}},"none":[],"two":["one {","two ["],"last":false})");
}

TEST_CASE("numbers with a fraction are as short as they can be, and stay such numbers") {
  for (const double value : {0.0, 1.0, 0.5, 1.841, 15.158, 1e-3, 123456789.123, 1e6, 3600000.001, -2.0}) {
    JsonText out;
    const std::string text = out.put("n", value).take();
    const Json read = Json::parse(text);
    CAPTURE(text);
    CHECK(read["n"].is_number_float());
    CHECK(read["n"].get<double>() == value);
    CHECK(text == by_library(Json{{"n", value}}));
  }
  for (const double value : {1e-7, 5e-324, 1e300, std::numeric_limits<double>::max()}) {  // the library: an exponent
    const std::string text = JsonText().put("n", value).take();
    CHECK(text.find_first_of("eE") == std::string::npos);
    CHECK(Json::parse(text)["n"].get<double>() == value);
  }
  CHECK(JsonText().put("n", std::numeric_limits<double>::quiet_NaN()).take() == R"({"n":null})");
  CHECK(JsonText().put("n", -std::numeric_limits<double>::infinity()).take() == R"({"n":null})");
}

}  // namespace mayfly
