#include "api/problem.h"

#include <catch2/catch.hpp>

#include "api/language_versions.h"
#include "jail/wire/frame.h"

namespace mayfly::api {

TEST_CASE("each refusal has its status, and a retry time where coming back helps", "[P51]") {
  const auto status = [](RefusalKind kind) { return from_refusal(Refused{1, "", kind, "f", "t", 1000}).status; };
  CHECK(status(RefusalKind::BadRequest) == 400);
  CHECK(status(RefusalKind::UnknownProfile) == 400);
  CHECK(status(RefusalKind::QueueFull) == 429);
  CHECK(status(RefusalKind::Quota) == 429);
  CHECK(status(RefusalKind::WaitedTooLong) == 429);
  CHECK(status(RefusalKind::Draining) == 503);
  CHECK(status(RefusalKind::ControlMissing) == 422);
}

TEST_CASE("a problem is one JSON object whose foreign bytes are escaped", "[P51]") {
  const Problem problem = bad_field(Failure{"read field", 22, "files.\x1b[2J", "is \xff odd"});
  const auto json = parse_json(problem_json(problem), 4);
  REQUIRE(json);
  CHECK((*json)["status"] == 400);
  CHECK((*json)["code"] == "bad-field");
  CHECK((*json)["field"] == "files.\\x1b[2J");
  CHECK(problem_json(problem).find("Invalid argument") == std::string::npos);  // no errno text
}

TEST_CASE("a version is found in what an interpreter says of itself") {
  CHECK(version_in("Python 3.11.2\n") == "3.11.2");
  CHECK(version_in("v20") == "");
  CHECK(version_in("") == "");
}

}  // namespace mayfly::api
