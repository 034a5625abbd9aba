#include "api/request_body.h"

#include <catch2/catch.hpp>

#include "jail/spec/resolve.h"

namespace mayfly::api {

namespace {

std::string field_of(std::string_view body) {
  const auto order = read_run_body(body, "127.0.0.1:5", "127.0.0.1");
  return order ? "accepted" : order.error().subject;
}

}  // namespace

TEST_CASE("code alone is enough") {
  const auto order = read_run_body(R"json({"code":"print(1)"})json", "127.0.0.1:5", "127.0.0.1");
  REQUIRE(order);
  CHECK(order->request.origin == OriginKind::Api);
  CHECK(order->request.language == "python");
  CHECK(order->request.principal == "anonymous@127.0.0.1");
  CHECK(order->stdin_bytes.empty());
}

TEST_CASE("every field of the contract is taken") {
  auto order = read_run_body(
      R"({"code":"x","language":"python","stdin":{"content":"aGk=","encoding":"base64"},"args":["a","b"],
          "files":{"data.csv":{"content":"a,b\n"},"b/c.bin":{"content":"AAE=","encoding":"base64"}},
          "limits":{"wallMs":10000,"cpuMs":10000,"memoryBytes":268435456,"processes":64,"cpus":1.0,"diskBytes":67108864,
                    "openFiles":256,"outputBytes":1048576},
          "require":["memory"],"reproducible":true,"label":"step 3","queueMs":5})",
      "127.0.0.1:5", "127.0.0.1");
  REQUIRE(order);
  CHECK(order->stdin_bytes == "hi");
  Request& request = order->request;
  REQUIRE(order->payload.seal_into(request));
  CHECK(request.payload.size() == 5);
  CHECK(request.payload_bytes == 1 + 1 + 1 + 4 + 2);
  CHECK(request.queue_ms == 5);
  CHECK(request.require.has(Control::Memory));
  CHECK(resolve(request, Policy{}, JailId{}, ""));
}

TEST_CASE("what is wrong is refused by the name of its field", "[P51]") {
  CHECK(field_of(R"({})") == "code");
  CHECK(field_of(R"([])") == "body");
  CHECK(field_of(R"({"code":1})") == "code");
  CHECK(field_of(R"({"code":"x","Code":"y"})") == "Code");
  CHECK(field_of(R"({"code":"x","code":"y"})") == "code");
  CHECK(field_of(R"({"code":"x","stdin":5})") == "stdin");
  CHECK(field_of(R"({"code":"x","stdin":{"content":"!","encoding":"base64"}})") == "stdin.content");
  CHECK(field_of(R"({"code":"x","stdin":{"content":"a","encoding":"hex"}})") == "stdin.encoding");
  CHECK(field_of(R"({"code":"x","args":["a",1]})") == "args");
  CHECK(field_of("{\"code\":\"x\",\"args\":[\"a\\u0000b\"]}") == "args");
  CHECK(field_of(R"({"code":"x","files":{"../a":{"content":""}}})") == "files.../a");
  CHECK(field_of(R"({"code":"x","files":{"a":"text"}})") == "files.a");
  CHECK(field_of(R"({"code":"x","limits":{"wallMs":1.5}})") == "limits.wallMs");
  CHECK(field_of(R"({"code":"x","limits":{"wallMs":"100"}})") == "limits.wallMs");
  CHECK(field_of(R"({"code":"x","limits":{"wallMs":1e400}})") != "accepted");
  CHECK(field_of(R"({"code":"x","limits":{"wallMs":18446744073709551616}})") == "limits.wallMs");
  CHECK(field_of(R"({"code":"x","limits":{"seconds":1}})") == "limits.seconds");
  CHECK(field_of(R"({"code":"x","require":["walls"]})") == "require");
  CHECK(field_of(R"({"code":"x","reproducible":"yes"})") == "reproducible");
  CHECK(field_of(R"({"code":"x","queueMs":-1})") == "queueMs");
  CHECK(field_of(R"({"code":"x","env":{}})") == "env");
  CHECK(field_of("") != "accepted");
  CHECK(field_of("{\"code\":" + std::string(100'000, '[')) != "accepted");
}

TEST_CASE("bodies over a limit are refused with it") {
  CHECK(field_of("{\"code\":\"" + std::string((1 << 20) + 1, 'x') + "\"}") == "code");
  CHECK(field_of("{\"code\":\"x\",\"stdin\":\"" + std::string((4 << 20) + 1, 'x') + "\"}") == "stdin");
  std::string files = "{\"code\":\"x\",\"files\":{";
  for (int i = 0; i < 65; ++i) files += (i ? ",\"f" : "\"f") + std::to_string(i) + "\":{\"content\":\"\"}";
  CHECK(field_of(files + "}}") == "files");
}

}  // namespace mayfly::api
