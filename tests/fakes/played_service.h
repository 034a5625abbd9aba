// PlayedService: a played engine (played_engine.h) with lease.sock and monitor.sock, as a service has them.
#pragma once

#include "jail/os/unix_socket.h"
#include "tests/fakes/played_engine.h"

namespace mayfly::played {

// A service in a directory of its own.
struct Service {
  static EngineOptions options(Policy policy, char* directory) {
    EngineOptions options;
    options.policy = std::move(policy);
    options.service = true;
    options.directory = ::mkdtemp(directory);
    return options;
  }
  char directory[32] = "/tmp/mayfly-test-XXXXXX";
  PlayedEngine engine;
  explicit Service(Policy policy = {}) : engine(options(std::move(policy), directory)) {}
  ~Service() {
    ::unlink((std::string(directory) + "/lease.sock").c_str());
    ::unlink((std::string(directory) + "/monitor.sock").c_str());
    ::rmdir(directory);
  }
  SupervisorClient client(Role role = Role::Api) { return engine.connect_as(role, ::geteuid()); }
  RawPeer monitor() const { return {*connect_to(std::string(directory) + "/monitor.sock")}; }
};

inline Request api_request(std::string principal = "ana") {
  Request request = exec_request(OriginKind::Api);
  request.principal = std::move(principal);
  return request;
}

// A run that takes the one place of one_api_run(), or one of several.
inline PlayedJail occupy(Service& service, SupervisorClient& api) {
  service.engine.open(api, api_request());
  PlayedJail jail = service.engine.take_jail();
  jail.run();
  service.engine.next_as<Running>(api);
  return jail;
}

inline void end_well(PlayedJail& jail) {
  jail.exit_with(0);
  jail.drain();
  jail.finish();
  jail.relay_exits();
  jail.say_released();
}

inline Policy one_api_run() {
  Policy policy;
  policy.host.api_runs = 1;
  return policy;
}

}  // namespace mayfly::played
