#include "jail/wire/frame.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>

#include "jail/os/memfd.h"
#include "jail/os/unix_socket.h"
#include "jail/spec/limits.h"

namespace mayfly {

namespace {

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

}  // namespace

TEST_CASE("JSON is judged for depth and doubled keys before it is believed") {
  CHECK(parse_json(R"({"a":[1,2,{"b":null}]})", 8));
  CHECK_FALSE(parse_json("[[[[[[[[[]]]]]]]]]", 8));
  CHECK(parse_json("[[[[[[[[]]]]]]]]", 8));
  CHECK_FALSE(parse_json(std::string(100'000, '['), 8));
  CHECK_FALSE(parse_json(R"({"a":1,"a":2})", 8));
  CHECK_FALSE(parse_json(R"({"x":{"a":1,"a":2}})", 8));
  CHECK(parse_json(R"({"x":{"a":1},"a":2})", 8));
  CHECK(parse_json(R"({"brackets":"[[[[[[[[[[[[ \" [[["})", 8));
  CHECK_FALSE(parse_json("", 8));
  const auto half = parse_json(R"({"a":)", 8);
  REQUIRE_FALSE(half);
  CHECK(half.error().why == "this is not JSON: byte 6: the text ends too early");  // no name of a library's class
  CHECK_FALSE(parse_json("{} {}", 8));
  CHECK_FALSE(parse_json("{/* no */}", 8));
  CHECK_FALSE(parse_json("{\"a\":\"\xff\"}", 8));
  CHECK_FALSE(parse_json("NaN", 8));
}

TEST_CASE("a reader names the field that is missing, odd or unknown") {
  const Json object = {{"n", 5}, {"t", "text"}, {"odd", -1}, {"real", 1.5}};
  JsonReader in(object, "limits");
  CHECK(*in.number("n", 0, 5) == 5);
  CHECK(in.number("n", 0, 4).error().subject == "limits.n");
  CHECK(in.number("odd", 0, 9).error().subject == "limits.odd");
  CHECK(in.number("real", 0, 9).error().subject == "limits.real");
  CHECK(in.number("none", 0, 9).error().subject == "limits.none");
  CHECK(in.text("t", 3).error().subject == "limits.t");
  JsonReader partly(object, "limits");
  CHECK(partly.number("n", 0, 5));
  CHECK(partly.finish().error().subject == "limits.t");
}

TEST_CASE("a frame carries descriptors, and none is left when it is refused") {
  auto pair = make_seqpacket_pair(Blocking::No);
  REQUIRE(pair);
  const auto memfd = make_sealed_memfd("test", "hello");
  REQUIRE(memfd);
  const int fds[] = {memfd->get(), memfd->get()};
  REQUIRE(send_frame(pair->ours.get(), R"({"say":"x"})", fds));
  const auto frame = receive_frame(pair->theirs.get());
  REQUIRE(frame);
  CHECK(frame->fds.size() == 2);
  CHECK(*read_whole(frame->fds[1], 10) == "hello");

  const std::vector<int> many(kMaxFrameFds + 1, memfd->get());
  REQUIRE(send_message(pair->ours.get(), std::as_bytes(std::span("{}", 2)), many));
  const std::size_t before = open_descriptors();
  CHECK(receive_frame(pair->theirs.get()).error().error == EMSGSIZE);
  CHECK(open_descriptors() == before);
}

TEST_CASE("a frame over the limit is not sent, and one that arrives is refused") {
  auto pair = make_seqpacket_pair(Blocking::No);
  REQUIRE(pair);
  CHECK(send_frame(pair->ours.get(), std::string(70'000, 'x')).error().error == EMSGSIZE);
  std::string raw(70'010, 'x');
  raw.replace(0, 9, R"({"long":")").replace(raw.size() - 2, 2, R"("})");
  REQUIRE(send_message(pair->ours.get(), std::as_bytes(std::span(raw)), {}));
  CHECK(receive_frame(pair->theirs.get()).error().error == EMSGSIZE);
}

TEST_CASE("a closed peer is told apart from an empty socket") {
  auto pair = make_seqpacket_pair(Blocking::No);
  REQUIRE(pair);
  CHECK(receive_frame(pair->ours.get()).error().error == EAGAIN);
  pair->theirs.reset();
  const auto frame = receive_frame(pair->ours.get());
  REQUIRE(frame);
  CHECK(frame->closed);
}

TEST_CASE("only a memory file that can never change is taken") {
  const auto sealed = make_sealed_memfd("test", "12345");
  REQUIRE(sealed);
  CHECK(*sealed_size(*sealed, 5) == 5);
  CHECK_FALSE(sealed_size(*sealed, 4));
  CHECK(::write(sealed->get(), "x", 1) == -1);
  CHECK_FALSE(sealed_size(Fd(::dup(0)), 100));
}

TEST_CASE("a text of very many values is refused before a tree is made of it", "[P51]") {
  std::string fields = "{";
  for (int i = 0; i < 200; ++i) fields += "\"" + std::to_string(i) + "\":0,";
  fields.back() = '}';
  CHECK(parse_json(fields, 4).error().why == "an object has more than 128 fields");
  std::string values = "[0";
  for (int i = 0; i < 20'000; ++i) values += ",{}";
  CHECK(parse_json(values + "]", 4).error().why == "more than 16384 values");
  CHECK(parse_json(values.substr(0, 2 + 3 * 8'000) + "]", 4));
  CHECK(parse_json("[\"" + std::string(100'000, ',') + "\"]", 4));
}

}  // namespace mayfly
