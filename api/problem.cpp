#include "api/problem.h"

#include "jail/spec/escape.h"
#include "jail/wire/frame.h"

namespace mayfly::api {

Problem bad_field(const Failure& failure) {
  if (failure.subject.empty()) return {400, "bad-json", "The body cannot be read", failure.why, "", 0};
  const std::string detail = failure.subject + ": " + failure.why;
  return {400, "bad-field", "The request is not valid", detail, failure.subject, 0};
}

Problem from_refusal(const Refused& refused) {
  Problem problem;
  problem.code = std::string(name(refused.kind));
  problem.detail = refused.text;
  problem.field = refused.field;
  problem.retry_after_ms = refused.retry_after_ms;
  switch (refused.kind) {
    case RefusalKind::BadRequest:
    case RefusalKind::UnknownProfile:
      problem.status = 400;
      problem.code = "bad-field";
      problem.title = "The request is not valid";
      problem.detail = refused.field + ": " + refused.text;
      break;
    case RefusalKind::QueueFull:
    case RefusalKind::Quota:
    case RefusalKind::WaitedTooLong:
      problem.status = 429;
      problem.title = "No place for this run now";
      break;
    case RefusalKind::Draining:
      problem.status = 503;
      problem.title = "The service takes no new jails";
      break;
    case RefusalKind::ControlMissing:
      problem.status = 422;
      problem.title = "A required control is absent on this host";
      break;
  }
  return problem;
}

Problem engine_gone() {
  return {503, "engine-restarting", "The jail engine is restarting", "try again in a few seconds", "", 2000};
}

std::string problem_json(const Problem& problem) {
  Json object = {{"type", "about:blank"}, {"title", problem.title}, {"status", problem.status}, {"code", problem.code}};
  if (!problem.detail.empty()) object["detail"] = escape(problem.detail, 600);
  if (!problem.field.empty()) object["field"] = escape(problem.field, 200);
  if (problem.retry_after_ms > 0) object["retryAfterMs"] = problem.retry_after_ms;
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace mayfly::api
