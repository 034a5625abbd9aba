// Problem: an error as RFC 9457 problem+json, with a stable `code`, the offending `field` and the allowed range.
// No host path, pid, errno or stack ever appears in one: texts come from tables of ours or from resolve().
#pragma once

#include <cstdint>
#include <string>

#include "jail/client/supervisor_client.h"

namespace mayfly::api {

struct Problem {
  unsigned status = 500;
  std::string code;    // "bad-field": stable, for programs
  std::string title;   // for people, one per code
  std::string detail;  // what was wrong with this request
  std::string field;   // "" when no single field is to blame
  std::uint64_t retry_after_ms = 0;
};

// 400: subject is the field, why the range. Without a subject no field could be read at all: "bad-json".
Problem bad_field(const Failure& failure);
Problem from_refusal(const Refused& refused);
Problem engine_gone();  // 503
std::string problem_json(const Problem& problem);

}  // namespace mayfly::api
