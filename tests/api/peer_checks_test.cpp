#include "api/peer_checks.h"

#include <catch2/catch.hpp>

namespace mayfly::api {

namespace http = boost::beast::http;

namespace {

const std::vector<std::string> kHosts = {"localhost", "127.0.0.1", "[::1]"};

Header with(http::field field, std::string_view value) {
  Header header;
  header.insert(field, value);
  return header;
}

unsigned status(const std::optional<Problem>& problem) { return problem ? problem->status : 0; }

}  // namespace

TEST_CASE("only our own names are answered to", "[P52]") {
  for (const char* good : {"localhost", "localhost:8802", "127.0.0.1:8802", "LOCALHOST:1", "[::1]:8802", "[::1]"})
    CHECK(status(judge_host(with(http::field::host, good), kHosts)) == 0);
  for (const char* bad : {"evil.example", "127.0.0.1.evil.example", "localhost:8802:1", "localhost:x", "0.0.0.0:8802",
                          "", "localhost@evil.example"})
    CHECK(status(judge_host(with(http::field::host, bad), kHosts)) == 421);
  CHECK(status(judge_host(Header{}, kHosts)) == 400);
  Header twice = with(http::field::host, "localhost");
  twice.insert(http::field::host, "localhost");
  CHECK(status(judge_host(twice, kHosts)) == 400);
}

TEST_CASE("a page of another origin is refused", "[P52]") {
  CHECK(status(judge_origin(Header{}, kHosts)) == 0);
  const auto from = [](const char* origin) {
    Header header = with(http::field::host, "localhost:8802");
    header.insert(http::field::origin, origin);
    return status(judge_origin(header, kHosts));
  };
  CHECK(from("http://localhost:8802") == 0);
  for (const char* other : {"http://localhost:3000", "http://localhost", "http://127.0.0.1:8802"})
    CHECK(from(other) == 403);
  for (const char* bad : {"http://evil.example", "null", "https://localhost", "http://localhost.evil.example"})
    CHECK(status(judge_origin(with(http::field::origin, bad), kHosts)) == 403);
}

TEST_CASE("a form or text body is refused", "[P52]") {
  for (const char* good : {"application/json", "application/json; charset=utf-8", "Application/JSON ; charset=UTF-8"})
    CHECK(status(judge_content_type(with(http::field::content_type, good))) == 0);
  for (const char* bad : {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp",
                          "application/json; charset=latin1", "text/plain; application/json"})
    CHECK(status(judge_content_type(with(http::field::content_type, bad))) == 415);
  CHECK(status(judge_content_type(Header{})) == 415);
}

TEST_CASE("a body whose length can be read in two ways is refused") {
  Header both = with(http::field::content_length, "5");
  both.insert(http::field::transfer_encoding, "chunked");
  CHECK(status(judge_framing(both)) == 400);
  Header twice = with(http::field::content_length, "5");
  twice.insert(http::field::content_length, "5");
  CHECK(status(judge_framing(twice)) == 400);
  CHECK(status(judge_framing(with(http::field::transfer_encoding, "gzip, chunked"))) == 400);
  CHECK(status(judge_framing(with(http::field::transfer_encoding, "chunked"))) == 0);
  CHECK(status(judge_framing(with(http::field::content_encoding, "gzip"))) == 415);
  CHECK(status(judge_framing(with(http::field::expect, "202-maybe"))) == 417);
  Header expects = with(http::field::expect, "100-continue");
  expects.insert(http::field::expect, "202-maybe");
  CHECK(status(judge_framing(expects)) == 417);
  CHECK(status(judge_framing(with(http::field::content_length, "19"))) == 0);
  for (const char* bad : {"19, 19", "+19", "0x13", "-1"})
    CHECK(status(judge_framing(with(http::field::content_length, bad))) == 400);
}

}  // namespace mayfly::api
