// --state, for commands that start or talk to a service; MAYFLY_STATE is the same.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace mayfly {

inline void add_state_option(CLI::App* app, std::string& state) {
  app->add_option("--state", state, "State directory of the service (also MAYFLY_STATE)")->envname("MAYFLY_STATE");
}

}  // namespace mayfly
