#include "jail/cli/config.h"

#include <catch2/catch.hpp>

using namespace mayfly;

namespace {

Expected<Settings> settings_of(const std::string& text) {
  auto parsed = parse_config(text, "mayfly.jsonc");
  if (!parsed) return tl::make_unexpected(parsed.error());
  return read_settings(*parsed);
}

// The message of a configuration that must be refused.
std::string refusal(const std::string& text) {
  const auto settings = settings_of(text);
  return settings ? std::string("accepted") : settings.error().text();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an empty object is the built-in defaults") {
  const auto settings = settings_of("{}");
  REQUIRE(settings);
  CHECK(settings->ssh == "127.0.0.1:2222");
  CHECK(settings->http == "127.0.0.1:8802");
  CHECK(settings->policy.api.defaults == kApiLimits.defaults);
  CHECK(settings->policy.require == default_requirements());
}

TEST_CASE("comments are allowed and do not shift the line that a mistake is on") {
  const std::string message =
      refusal("// first\n{\n  /* two\n     lines */\n  \"listen\": {\n    \"shh\": \"off\"\n  }\n}\n");
  CHECK(has(message, "mayfly.jsonc:6"));
  CHECK(has(message, "listen.shh"));
  CHECK(has(message, "unknown key"));
  CHECK(has(message, "ssh, http"));
}

TEST_CASE("an absurd number names file, line, key and the allowed range") {
  const std::string message = refusal("{\n\"limits\": {\n\"api\": {\n\"defaults\": {\n\"wallMs\": 0}}}}");
  CHECK(has(message, "mayfly.jsonc:5"));
  CHECK(has(message, "limits.api.defaults.wallMs"));
  CHECK(has(message, "allowed 10.."));
  CHECK(has(message, "got 0"));
  CHECK(has(refusal("{\"limits\": {\"exec\": {\"ceilings\": {\"memoryBytes\": -1}}}}"),
            "limits.exec.ceilings.memoryBytes"));
  CHECK(has(refusal("{\"limits\": {\"api\": {\"defaults\": {\"cpus\": 1e30}}}}"), "limits.api.defaults.cpus"));
  CHECK(has(refusal("{\"principals\": {\"live\": 1.5}}"), "principals.live"));
  CHECK(has(refusal("{\"principals\": {\"live\": \"many\"}}"), "a whole number"));
}

TEST_CASE("a default over its ceiling, and files larger than half of the memory, are refused") {
  CHECK(has(refusal("{\"limits\": {\"api\": {\"defaults\": {\"wallMs\": 61000}}}}"), "over the ceiling"));
  CHECK(has(refusal("{\"limits\": {\"api\": {\"defaults\": {\"memoryBytes\": 16777216}}}}"), "half of memoryBytes"));
}

TEST_CASE("text that is no JSON is refused with its line") {
  CHECK(has(refusal("{\n\"listen\": {,}\n}"), "mayfly.jsonc:2"));
  CHECK(has(refusal(""), "mayfly.jsonc:1"));
  CHECK(has(refusal("[]"), "an object is needed"));
  CHECK(has(refusal("{} {}"), "not JSON"));
}

TEST_CASE("a key that is there twice is refused at its second place") {
  const std::string message = refusal("{\n\"madeAhead\": true,\n\"madeAhead\": false\n}");
  CHECK(has(message, "mayfly.jsonc:3"));
  CHECK(has(message, "twice"));
}

TEST_CASE("nesting without end is refused before it is kept") {
  CHECK(has(refusal("{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}"), "levels deep"));
}

TEST_CASE("keys of later versions are refused in so many words") {
  for (const char* text : {"{\"records\": {}}", "{\"recordings\": \"off\"}", "{\"languages\": \"f\"}",
                           "{\"listen\": {\"httpSocket\": \"/run/x\"}}", "{\"access\": {\"http\": \"tokens\"}}"}) {
    INFO(text);
    CHECK(has(refusal(text), "not available in this version"));
  }
}

TEST_CASE("the ways in over SSH are taken by their words, and keys need their file") {
  const auto access_of = [](const char* text) {
    const auto parsed = parse_config(text, "f");
    REQUIRE(parsed);
    const auto settings = read_settings(*parsed);
    REQUIRE(settings);
    return settings->ssh_access;
  };
  const SshAccess both =
      access_of(R"({"access": {"ssh": ["keys", "invites"], "authorizedKeys": "/etc/mayfly/authorized_keys"}})");
  CHECK_FALSE(both.open);
  CHECK(both.keys);
  CHECK(both.invites);
  CHECK(both.authorized_keys == "/etc/mayfly/authorized_keys");
  CHECK(has(refusal(R"({"access": {"ssh": ["doors"]}})"), "\"open\", \"keys\" and \"invites\""));
  CHECK(has(refusal(R"({"access": {"ssh": []}})"), "nobody could come in"));
  for (const char* file : {"", "keys", "./keys"})
    CHECK(has(refusal(std::string(R"({"access": {"ssh": ["keys"], "authorizedKeys": ")") + file + "\"}}"),
              "authorizedKeys"));
}

TEST_CASE("where nobody comes in without a key or an invite, SSH may face a network and HTTP may not") {
  const auto parsed = parse_config(R"({"listen": {"ssh": "0.0.0.0:2222"}, "access": {"ssh": ["invites"]}})", "f");
  REQUIRE(parsed);
  CHECK(read_settings(*parsed));
  CHECK(
      has(refusal(R"({"listen": {"ssh": "0.0.0.0:2222"}, "access": {"ssh": ["open", "invites"]}})"), "openOnNetwork"));
  CHECK(has(refusal(R"({"listen": {"http": "0.0.0.0:8802"}, "access": {"ssh": ["invites"]}})"), "openOnNetwork"));
}

TEST_CASE("an open door on a network needs the words for it") {
  const std::string message = refusal("{\n\"listen\": {\n\"http\": \"0.0.0.0:8802\"}}");
  CHECK(has(message, "mayfly.jsonc:3"));
  CHECK(has(message, "openOnNetwork"));
  CHECK(settings_of("{\"listen\": {\"http\": \"0.0.0.0:8802\"}, \"access\": {\"openOnNetwork\": true}}"));
  CHECK(settings_of("{\"listen\": {\"ssh\": \"[::1]:22\", \"http\": \"off\"}}"));
  CHECK(has(refusal("{\"listen\": {\"ssh\": \"2222\"}}"), "listen.ssh"));
}

TEST_CASE("require takes the names of controls and nothing else") {
  const auto settings = settings_of("{\"require\": [\"memory\", \"network\"]}");
  REQUIRE(settings);
  CHECK(settings->policy.require.has(Control::Memory));
  CHECK_FALSE(settings->policy.require.has(Control::Time));
  CHECK(has(refusal("{\"require\": [\"memroy\"]}"), "memroy"));
}

TEST_CASE("profiles are added beside the built-in ones") {
  const auto settings =
      settings_of("{\"profiles\": {\"bash\": {\"shell\": [\"/bin/bash\"]}, \"py\": {\"language\": \"python\"}}}");
  REQUIRE(settings);
  CHECK(settings->policy.catalogue.profile("bash")->shell.at(0) == "/bin/bash");
  CHECK(settings->policy.catalogue.profile("py")->language == "python");
  CHECK(settings->policy.catalogue.profile("run") != nullptr);
  CHECK(has(refusal("{\"profiles\": {\"run\": {\"shell\": [\"/bin/bash\"]}}}"), "built in"));
  CHECK(has(refusal("{\"profiles\": {\"Bad Name\": {\"shell\": [\"/bin/bash\"]}}}"), "a-z"));
  CHECK(has(refusal("{\"profiles\": {\"x\": {\"language\": \"cobol\"}}}"), "unknown language"));
  CHECK(has(refusal("{\"profiles\": {\"x\": {\"shell\": [\"bash\"]}}}"), "absolute"));
  CHECK(has(refusal("{\"profiles\": {\"x\": {}}}"), "either"));
}

TEST_CASE("host takes numbers or the word auto") {
  const auto settings = settings_of("{\"host\": {\"memoryBytes\": 1073741824, \"cpus\": 1.5, \"jails\": \"auto\"}}");
  REQUIRE(settings);
  CHECK(settings->policy.host.memory == 1_gib);
  CHECK(settings->policy.host.cpus == MilliCpus{1500});
  CHECK(settings->policy.host.jails == 0);
  CHECK(has(refusal("{\"host\": {\"jails\": \"all\"}}"), "auto"));
  CHECK(has(refusal("{\"host\": {\"jails\": 1000000}}"), "allowed 1..4096"));
}

TEST_CASE("foreign bytes of the file are escaped in messages") {
  CHECK_FALSE(has(refusal("{\"\\u001b[2J\": 1}"), "\033"));
}
