#include <catch2/catch.hpp>

#include "jail/wire/supervisor_config.h"

namespace mayfly {

TEST_CASE("the supervisor's configuration survives the wire, and a foreign key is refused") {
  SupervisorConfig config;
  config.instance = "0123456789ab";
  config.run_directory = "/run/mayfly";
  config.policy.require.add(Control::Memory);
  config.policy.host.memory = 1_gib;
  config.policy.processors = 2;
  const Json body = encode(config);
  const auto read = decode_supervisor_config(body);
  REQUIRE(read);
  CHECK(encode(*read) == body);
  Json foreign = body;
  foreign["policy"]["extra"] = 1;
  CHECK(decode_supervisor_config(foreign).error().subject == "policy.extra");
  foreign = body;
  foreign["policy"].erase("require");
  CHECK_FALSE(decode_supervisor_config(foreign));
}

TEST_CASE("profiles are reloaded, but not where a folder of one differs: the builder has opened them") {
  SupervisorConfig running;
  const Profile plain{"plain", "", {"/bin/sh"}, "", ""}, with{"class", "python", {}, "/srv/seed", "/srv/data", 1};
  running.policy.catalogue = Catalogue({plain, with}, {});
  running = decode_supervisor_config(encode(running)).value();  // and they survive the wire
  REQUIRE(running.policy.catalogue.profile("class")->seed == "/srv/seed");

  SupervisorConfig fresh = running;
  fresh.policy.catalogue = Catalogue({plain, with, Profile{"bash", "", {"/bin/bash"}, "", ""}}, {});
  CHECK(take_settings(running, fresh).empty());
  CHECK(running.policy.catalogue.profile("bash") != nullptr);

  Profile moved = with;
  moved.readonly = "/srv/other";
  fresh.policy.catalogue = Catalogue({moved}, {});
  CHECK(take_settings(running, fresh) == "profiles (seed and readonly)");
  CHECK(running.policy.catalogue.profile("class")->readonly == "/srv/data");
  CHECK(running.policy.catalogue.profile("plain") != nullptr);
}

TEST_CASE("another directory behind the path of a folder is another folder") {
  SupervisorConfig running;
  Profile with{"class", "python", {}, "/srv/seed", "/srv/data", 1, "254:0 17", "254:0 18"};
  running.policy.catalogue = Catalogue({with}, {});
  SupervisorConfig fresh = decode_supervisor_config(encode(running)).value();
  CHECK(take_settings(running, fresh).empty());
  for (std::string Profile::*identity : {&Profile::seed_is, &Profile::readonly_is}) {
    Profile exchanged = with;
    exchanged.*identity = "254:0 19";
    fresh.policy.catalogue = Catalogue({exchanged}, {});
    CHECK(take_settings(running, decode_supervisor_config(encode(fresh)).value()) == "profiles (seed and readonly)");
  }
}

TEST_CASE("a profile or language with a name that is no word is refused") {
  const Json body = encode(SupervisorConfig());
  for (const char* table : {"profiles", "languages"})
    for (const char* name : {"", "-", "two words", "Python", "a_b", "x\n"}) {
      Json changed = body;
      changed["policy"]["catalogue"][table][0]["name"] = name;
      CAPTURE(table, name);
      const auto read = decode_supervisor_config(changed);
      REQUIRE_FALSE(read);
      CHECK(read.error().subject == std::string(table) + ".name");
    }
}

}  // namespace mayfly
