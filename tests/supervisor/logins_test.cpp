#include "jail/supervisor/logins.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "jail/os/log.h"
#include "jail/wire/result_json.h"
#include "tests/supervisor/authorized_keys_samples.h"
#include "tests/supervisor/logins_place.h"

namespace mayfly {

namespace {

const std::string kLine(samples::kEd25519);
const std::string kBlob = kLine.substr(12, kLine.find(' ', 12) - 12);
std::uint64_t the_time = 1'800'000'000'000;

struct Place : LoginsPlace {
  [[nodiscard]] Logins with(bool open, bool keys_too, bool invites) const {
    return Logins({open, keys_too, invites, keys()}, catalogue, path, [] { return the_time; });
  }
};

LogIn shown(LoginWay way, std::string credential = {}, std::string user = "run") {
  return {way, std::move(user), std::move(credential), "192.0.2.1", "192.0.2.1"};
}

}  // namespace

TEST_CASE("open access takes everybody, under the address alone, and no name that is no profile", "[P41]") {
  const Place place;
  Logins logins = place.with(true, false, false);
  for (const LoginWay way : {LoginWay::None, LoginWay::Code, LoginWay::KeyOffer, LoginWay::Key}) {
    const auto identity = logins.judge(shown(way, "AAAA"));
    REQUIRE(identity);
    CHECK(identity->profile == "run");
    CHECK(identity->principal == "anonymous@192.0.2.1");
    CHECK_FALSE(identity->command);
    for (const char* name : {"", "root", "../run", "run ", "RUN", "run\x1b[31m"})
      CHECK_FALSE(logins.judge(shown(way, "AAAA", name)));
  }
}

TEST_CASE("without open access nothing, any password and any key let nobody in", "[P41]") {
  const Place place;
  place.authorize("");
  Logins logins = place.with(false, true, true);
  for (const LoginWay way : {LoginWay::None, LoginWay::Code, LoginWay::KeyOffer, LoginWay::Key})
    for (const std::string& credential : {std::string(), std::string("x"), kBlob})
      CHECK_FALSE(logins.judge(shown(way, credential)));
}

TEST_CASE("a way that is not open is not taken", "[P41]") {
  const Place place;
  place.authorize(kLine + "\n");
  Logins all = place.with(false, true, true);
  const std::string code = all.make_invites({"ana", "run", 60'000, 1, {}})->at(0).code;
  CHECK(all.judge(shown(LoginWay::Key, kBlob)));
  CHECK(all.judge(shown(LoginWay::Code, code)));
  Logins keys = place.with(false, true, false);
  CHECK(keys.judge(shown(LoginWay::Key, kBlob)));
  CHECK_FALSE(keys.judge(shown(LoginWay::Code, code)));
  CHECK_FALSE(keys.make_invites({"bo", "run", 60'000, 1, {}}));
  Logins invites = place.with(false, false, true);
  CHECK_FALSE(invites.judge(shown(LoginWay::Key, kBlob)));
  CHECK(invites.judge(shown(LoginWay::Code, code)));
  // What was shown as one kind is not tried as another.
  CHECK_FALSE(all.judge(shown(LoginWay::None, code)));
  CHECK_FALSE(all.judge(shown(LoginWay::Key, code)));
  CHECK_FALSE(all.judge(shown(LoginWay::Code, kBlob)));
}

TEST_CASE("a good code or key is its bearer's also where everybody may come in") {
  const Place place;
  place.authorize("command=\"uptime\" " + kLine + "\n");
  Logins logins = place.with(true, true, true);
  const std::string code = logins.make_invites({"ana", "run", 60'000, 1, {}})->at(0).code;
  CHECK(logins.judge(shown(LoginWay::Code, code))->principal == "invite:ana");
  CHECK(logins.judge(shown(LoginWay::Code, "x"))->principal == "anonymous@192.0.2.1");
  const auto by_key = logins.judge(shown(LoginWay::Key, kBlob));
  CHECK(by_key->principal == "key:" + key_fingerprint(*from_base64(kBlob)));
  CHECK(by_key->command == "uptime");
}

TEST_CASE("a key's from= is held against the whole address, the principal is named by what limits count by") {
  const Place place;
  Logins logins = place.with(true, true, false);
  const LogIn login{LoginWay::Key, "run", kBlob, "2001:db8::/64", "2001:db8::5"};
  place.authorize("from=\"2001:db8::5\" " + kLine + "\n");
  CHECK(logins.judge(login)->principal.starts_with("key:"));
  place.authorize("from=\"2001:db8::6,!2001:db8::5,2001:db8::/64\" " + kLine + "\n");
  CHECK(logins.judge(login)->principal == "anonymous@2001:db8::/64");
}

TEST_CASE("a name that is no profile uses up no invite", "[P41]") {
  const Place place;
  Catalogue without({Profile{"run", "", {"/bin/sh"}, "", ""}}, {});
  Logins all = place.with(false, false, true);
  const std::string code = all.make_invites({"ana", "python", 60'000, 1, 1})->at(0).code;
  Logins fewer({false, false, true, ""}, without, place.path, [] { return the_time; });
  CHECK_FALSE(fewer.judge(shown(LoginWay::Code, code, "python")));
  CHECK(fewer.invites()->at(0).uses_left == 1u);
}

TEST_CASE("an identity is over when its invite or its key is") {
  const Place place;
  place.authorize("expiry-time=\"20270115080000Z\" " + kLine + "\n");
  Logins logins = place.with(false, true, true);
  the_time = 1'800'000'000'000 - 1'000;  // 2027-01-15 07:59:59 UTC
  const std::string code = logins.make_invites({"ana", "run", 1'000, 1, {}})->at(0).code;
  const auto guest = logins.judge(shown(LoginWay::Code, code));
  const auto owner = logins.judge(shown(LoginWay::Key, kBlob));
  REQUIRE(guest);
  REQUIRE(owner);
  CHECK_FALSE(logins.is_over(*guest));
  CHECK_FALSE(logins.is_over(*owner));
  the_time += 1'000;
  CHECK(logins.is_over(*guest));
  CHECK(logins.is_over(*owner));
  CHECK_FALSE(logins.judge(shown(LoginWay::Code, code)));
  CHECK_FALSE(logins.judge(shown(LoginWay::Key, kBlob)));
  CHECK_FALSE(logins.is_over(Identity{"run", "anonymous@192.0.2.1", {}, {}}));
}

TEST_CASE("the keys are those of the file as it is now, and a file that others can write to has none", "[P41]") {
  const Place place;
  Logins logins = place.with(false, true, false);
  const LogIn login = shown(LoginWay::Key, kBlob);
  CHECK_FALSE(logins.judge(login));  // there is no file
  place.authorize(kLine + "\n");
  CHECK(logins.judge(login));
  REQUIRE(::chmod(place.keys().c_str(), 0620) == 0);
  CHECK_FALSE(logins.judge(login));
  place.authorize("# gone\n");
  CHECK_FALSE(logins.judge(login));
}

}  // namespace mayfly
