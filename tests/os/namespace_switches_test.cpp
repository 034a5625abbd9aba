// A host that keeps user namespaces from us says which switch it is, and the command that turns it.
#include "jail/os/namespace_switches.h"

#include <catch2/catch.hpp>

using namespace mayfly;

TEST_CASE("a host without any of the switches refuses nothing that we know of") {
  CHECK_FALSE(namespaces_refused({"95000", "", ""}, EngineUser::Ordinary).has_value());
  CHECK_FALSE(namespaces_refused({"95000", "1", "0"}, EngineUser::Ordinary).has_value());
  CHECK_FALSE(namespaces_refused({}, EngineUser::Ordinary).has_value());
}

TEST_CASE("no user namespaces at all binds root too") {
  for (const EngineUser user : {EngineUser::Ordinary, EngineUser::Root})
    CHECK(namespaces_refused({"0", "1", "0"}, user)->fix == "sudo sysctl -w user.max_user_namespaces=15000");
}

TEST_CASE("the switches of distributions bind ordinary users only") {
  CHECK(namespaces_refused({"95000", "0", ""}, EngineUser::Ordinary)->fix ==
        "sudo sysctl -w kernel.unprivileged_userns_clone=1");
  CHECK(namespaces_refused({"95000", "1", "1"}, EngineUser::Ordinary)->cause.find("AppArmor") != std::string::npos);
  CHECK_FALSE(namespaces_refused({"95000", "0", "1"}, EngineUser::Root).has_value());
}

TEST_CASE(
    "an engine does not start where a switch leaves no way, and is not kept from trying where a profile may help") {
  CHECK(namespaces_not_ruled_out({"0", "", ""}, EngineUser::Root).error().subject == "");
  CHECK(namespaces_not_ruled_out({"0", "", ""}, EngineUser::Root).error().why.find("sudo sysctl") != std::string::npos);
  CHECK_FALSE(namespaces_not_ruled_out({"95000", "0", ""}, EngineUser::Ordinary).has_value());
  CHECK(namespaces_not_ruled_out({"95000", "0", ""}, EngineUser::Root).has_value());
  CHECK(namespaces_not_ruled_out({"95000", "1", "1"}, EngineUser::Ordinary).has_value());
}

TEST_CASE("this kernel's switches are read") { CHECK_FALSE(NamespaceSwitches::read().most.empty()); }
