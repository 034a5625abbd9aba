#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "jail/cli/config.h"
#include "jail/cli/private_engine.h"

using namespace mayfly;

namespace {

std::string file_of_the_project(const std::string& name) {
  const char* source = std::getenv("MAYFLY_SOURCE");
  std::ifstream file((source == nullptr ? std::string(".") : std::string(source)) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void check_same(const LimitRange& a, const LimitRange& b) {
  CHECK(a.defaults == b.defaults);
  CHECK(a.ceilings == b.ceilings);
}

}  // namespace

TEST_CASE("the commented configuration says exactly what is built in") {
  const auto text = parse_config(file_of_the_project("etc/mayfly.jsonc"), "etc/mayfly.jsonc");
  if (!text) FAIL(text.error().text());
  const auto settings = read_settings(*text);
  if (!settings) FAIL(settings.error().text());
  const Settings built_in;
  CHECK(settings->ssh == built_in.ssh);
  CHECK(settings->http == built_in.http);
  CHECK(settings->ssh_access == built_in.ssh_access);
  CHECK(settings->open_on_network == built_in.open_on_network);
  CHECK(settings->usr_local == built_in.usr_local);
  CHECK(settings->log_level == built_in.log_level);

  const Policy expected = policy_of_this_host();
  const Policy& policy = settings->policy;
  check_same(policy.api, expected.api);
  check_same(policy.exec, expected.exec);
  check_same(policy.shell, expected.shell);
  check_same(policy.run, expected.run);
  CHECK(policy.require == expected.require);
  CHECK(policy.made_ahead == expected.made_ahead);
  CHECK(policy.queue_total == expected.queue_total);
  CHECK(policy.processors == expected.processors);
  CHECK(policy.host.memory == expected.host.memory);
  CHECK(policy.host.processes == expected.host.processes);
  CHECK(policy.host.cpus == expected.host.cpus);
  CHECK(policy.host.api_runs == expected.host.api_runs);
  CHECK(policy.host.jails == expected.host.jails);
  CHECK(policy.principals.live == expected.principals.live);
  CHECK(policy.principals.queued == expected.principals.queued);
  CHECK(policy.principals.requests_per_second == expected.principals.requests_per_second);
  CHECK(policy.principals.burst == expected.principals.burst);
  CHECK(policy.principals.cpu_seconds_per_hour == expected.principals.cpu_seconds_per_hour);
  CHECK(policy.catalogue.profiles().size() == expected.catalogue.profiles().size());
}

TEST_CASE("the commented configuration shows every key that is known") {
  // Taking any key out must not make the rest invalid, and every key that the reader knows is in the file: a reader
  // that meets an unknown key lists the known ones.
  const std::string file = file_of_the_project("etc/mayfly.jsonc");
  for (const char* part : {"", "listen", "access", "host", "principals", "log"}) {
    const std::string text = *part == 0 ? std::string("{\"?\": 1}") : "{\"" + std::string(part) + "\": {\"?\": 1}}";
    const auto parsed = parse_config(text, "f");
    REQUIRE(parsed);
    const auto settings = read_settings(*parsed);
    REQUIRE_FALSE(settings);
    const std::string message = settings.error().why;
    std::stringstream known(message.substr(message.find("here: ") + 6));
    for (std::string key; std::getline(known, key, ',');) {
      key.erase(0, key.find_first_not_of(' '));
      const bool is_later = key == "languages" || key == "records" || key == "recordings" || key == "httpSocket";
      INFO(part << "." << key);
      CHECK((is_later || file.find("\"" + key + "\":") != std::string::npos));
    }
  }
}
