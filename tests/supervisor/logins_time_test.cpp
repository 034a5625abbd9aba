// How long the supervisor takes to refuse tells nobody which names there are (hostile.md B36). Of many rounds, in which
// the cases take turns, the quickest of each counts: what else the machine does makes one longer, and none shorter.
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "jail/os/log.h"
#include "jail/supervisor/logins.h"
#include "tests/supervisor/authorized_keys_samples.h"
#include "tests/supervisor/logins_place.h"

namespace mayfly {

namespace {

using Nanoseconds = std::chrono::nanoseconds;

constexpr int kRounds = 300;
constexpr double kAlike = 1.5;   // quickest ones of the same work are within a few hundredths
constexpr double kUnlike = 2.0;  // what the controls must show, so that the tests could fail

const std::string kLine(samples::kEd25519);
const std::string kKnown = kLine.substr(12, kLine.find(' ', 12) - 12);
const std::string kUnknown = kKnown.substr(0, kKnown.size() - 8) + "AAAAAAAA";

struct Place : LoginsPlace {
  Place() { authorize(kLine + "\n"); }
  [[nodiscard]] Logins with(bool keys_too, bool invites) const {
    return Logins({false, keys_too, invites, keys()}, catalogue, path, [] { return 1'800'000'000'000; });
  }
};

struct Refusal {
  Logins* logins;
  LogIn login;
  Nanoseconds quickest = Nanoseconds::max();
};

Refusal refusal(Logins& logins, LoginWay way, std::string credential, std::string user) {
  return {&logins, {way, std::move(user), std::move(credential), "192.0.2.1", "192.0.2.1"}};
}

void measure(std::vector<Refusal>& cases) {
  for (int round = 0; round < kRounds; ++round)
    for (Refusal& one : cases) {
      const auto begin = std::chrono::steady_clock::now();
      const bool is_in = one.logins->judge(one.login).has_value();
      one.quickest =
          std::min(one.quickest, std::chrono::duration_cast<Nanoseconds>(std::chrono::steady_clock::now() - begin));
      REQUIRE_FALSE(is_in);
    }
}

// The first is the measure of all but the last, which is the control: a refusal without the work.
void check_that_names_cost_the_same(std::vector<Refusal> cases) {
  measure(cases);
  const auto ratio = [&](const Refusal& one) {
    return static_cast<double>(one.quickest.count()) / static_cast<double>(cases.front().quickest.count());
  };
  for (std::size_t i = 1; i + 1 < cases.size(); ++i) {
    INFO("\"" << cases[i].login.user << "\" took " << cases[i].quickest.count() << " ns, \"" << cases[0].login.user
              << "\" " << cases[0].quickest.count() << " ns");
    CHECK(ratio(cases[i]) < kAlike);
    CHECK(ratio(cases[i]) > 1 / kAlike);
  }
  INFO("the control took " << cases.back().quickest.count() << " ns, the others " << cases[0].quickest.count());
  CHECK(ratio(cases.back()) < 1 / kUnlike);
}

}  // namespace

TEST_CASE("a code is refused in the same time whether the name is a profile or not", "[P41]") {  // B36
  const Place place;
  Logins none = place.with(false, false);
  Logins full = place.with(false, true);
  const auto made = full.make_invites({"ana", "run", 60'000, static_cast<std::uint32_t>(kMostInvites), {}});
  REQUIRE(made);
  for (const std::string& code : {std::string("aaaaa-bbbbb-ccccc-ddddd"), made->at(1000).code}) {
    std::vector<Refusal> cases;
    for (const char* name :
         {"python", "nobody", "", "../run", "a name of sixty-four characters, which is more than any profile has"})
      cases.push_back(refusal(full, LoginWay::Code, code, name));
    cases.push_back(refusal(none, LoginWay::Code, code, "nobody"));
    check_that_names_cost_the_same(std::move(cases));
  }
}

TEST_CASE("a key is refused in the same time whether the name is a profile or not", "[P41]") {  // B36
  const Place place;
  Logins none = place.with(false, false), keys = place.with(true, false);
  for (const LoginWay way : {LoginWay::KeyOffer, LoginWay::Key}) {
    std::vector<Refusal> cases;
    for (const char* name : {"run", "python", "nobody", "", "../run"})
      cases.push_back(refusal(keys, way, kUnknown, name));
    cases.push_back(refusal(none, way, kUnknown, "nobody"));
    check_that_names_cost_the_same(std::move(cases));
    cases.clear();  // a good key, with a name that is none: told apart only after all the work
    for (const char* name : {"nobody", "", "../run"}) cases.push_back(refusal(keys, way, kKnown, name));
    cases.push_back(refusal(none, way, kKnown, "nobody"));
    check_that_names_cost_the_same(std::move(cases));
  }
}

}  // namespace mayfly
