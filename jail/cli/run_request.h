// What `mayfly run` and `mayfly shell` were asked for, as a Request (jail/spec/request.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jail/cli/run_session.h"
#include "jail/spec/policy.h"

namespace mayfly {

struct RunOptions {
  std::string profile, language, code, file;  // "": not given
  std::string memory, time, cpu_time, cpus, processes, disk, require, config;
  std::vector<std::string> words;  // the command
  bool has_words = false;
  bool code_given = false;
  bool require_given = false;
  bool tty = false, json = false, reproducible = false;
};

struct RunRequest {
  Request request;
  PayloadBuilder payload;
  Streams streams = Streams::Through;
};

// Fails on an option that does not make sense, naming it; the limits themselves are judged by resolve().
Expected<RunRequest> make_run_request(const RunOptions& options, const Policy& policy);

}  // namespace mayfly
