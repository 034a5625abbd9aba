#include "sshd/session/admission.h"

#include <catch2/catch.hpp>
#include <vector>

using namespace mayfly;

namespace {

// A supervisor that lets in by rule, and remembers what it was asked.
class PlayedJudge final : public LoginJudge {
 public:
  std::optional<LoginJudged> judge_login(const LogIn& login) override {
    asked.push_back(login);
    return answer;
  }
  std::vector<LogIn> asked;
  std::optional<LoginJudged> answer = LoginJudged{true, "anonymous@192.0.2.1", {}};
};

struct Stage {
  PlayedJudge judge;
  Admission admission{judge, "2001:db8::/64", "2001:db8::1"};
};

}  // namespace

TEST_CASE("what the peer shows reaches the supervisor as it is, with its source", "[P41]") {
  const std::tuple<Proof, LoginWay, const char*> ways[] = {{Proof::None, LoginWay::None, ""},
                                                           {Proof::Code, LoginWay::Code, "k3fqz-7m2xa"},
                                                           {Proof::KeySignature, LoginWay::Key, "AAAAC3Nz"}};
  for (const auto& [proof, way, credential] : ways) {
    Stage stage;
    CHECK(stage.admission.judge("python", proof, credential) == LoginVerdict::Admit);
    CHECK(stage.admission.admitted());
    CHECK(stage.admission.profile() == "python");
    CHECK(stage.admission.principal() == "anonymous@192.0.2.1");
    REQUIRE(stage.judge.asked.size() == 1);
    CHECK(stage.judge.asked[0].way == way);
    CHECK(stage.judge.asked[0].user == "python");
    CHECK(stage.judge.asked[0].credential == credential);
    CHECK(stage.judge.asked[0].source == "2001:db8::/64");
    CHECK(stage.judge.asked[0].host == "2001:db8::1");
  }
}

TEST_CASE("a key that was only offered admits nobody, and a bad signature is not even asked about", "[P41][B03]") {
  Stage stage;
  CHECK(stage.admission.judge("run", Proof::KeyOffer, "AAAA") == LoginVerdict::GoOn);
  CHECK(stage.judge.asked.back().way == LoginWay::KeyOffer);
  CHECK_FALSE(stage.admission.admitted());
  CHECK(stage.admission.judge("run", Proof::KeyBadSignature, "AAAA") == LoginVerdict::Refuse);
  CHECK(stage.judge.asked.size() == 1);
  CHECK_FALSE(stage.admission.admitted());
}

TEST_CASE("the profile is the one that came with the proof, not one named before", "[P41][B03]") {
  Stage stage;
  CHECK(stage.admission.judge("python", Proof::KeyOffer, "AAAA") == LoginVerdict::GoOn);
  CHECK(stage.admission.judge("run", Proof::KeySignature, "AAAA") == LoginVerdict::Admit);
  CHECK(stage.admission.profile() == "run");
}

TEST_CASE("whom the supervisor does not know, or does not answer about, stays outside", "[P41]") {
  for (const std::optional<LoginJudged>& answer :
       {std::optional<LoginJudged>(LoginJudged{}), std::optional<LoginJudged>()})
    for (const Proof proof : {Proof::None, Proof::Code, Proof::KeyOffer, Proof::KeySignature}) {
      Stage stage;
      stage.judge.answer = answer;
      CHECK(stage.admission.judge("run", proof, "x") == LoginVerdict::Refuse);
      CHECK_FALSE(stage.admission.admitted());
    }
}

TEST_CASE("an answer without a principal lets nobody in: it was meant for another question", "[P41]") {
  Stage stage;
  stage.judge.answer = LoginJudged{true, "", {}};
  for (const Proof proof : {Proof::None, Proof::Code, Proof::KeySignature})
    CHECK(stage.admission.judge("run", proof, "x") == LoginVerdict::Refuse);
  CHECK_FALSE(stage.admission.admitted());
}

TEST_CASE("a key's command comes with the login") {
  Stage stage;
  stage.judge.answer = LoginJudged{true, "key:SHA256:x", "uptime"};
  REQUIRE(stage.admission.judge("run", Proof::KeySignature, "AAAA") == LoginVerdict::Admit);
  CHECK(stage.admission.command() == "uptime");
}

TEST_CASE("after six refusals nothing is admitted any more, and nothing is asked") {
  Stage stage;
  stage.judge.answer = LoginJudged{};
  for (std::uint32_t i = 0; i < kMostAttempts; ++i) {
    CHECK_FALSE(stage.admission.exhausted());
    stage.admission.judge("nobody", Proof::Code, "x");
  }
  CHECK(stage.admission.exhausted());
  stage.judge.answer = LoginJudged{true, "p", {}};
  CHECK(stage.admission.judge("run", Proof::None, {}) == LoginVerdict::Refuse);
  CHECK(stage.judge.asked.size() == kMostAttempts);
  CHECK_FALSE(stage.admission.admitted());
}

TEST_CASE("the first question without a proof is free, every other one counts") {
  Stage stage;
  stage.judge.answer = LoginJudged{};
  stage.admission.judge("run", Proof::None, {});
  for (std::uint32_t i = 0; i < kMostAttempts; ++i) {
    CHECK_FALSE(stage.admission.exhausted());
    stage.admission.judge("run", Proof::None, {});
  }
  CHECK(stage.admission.exhausted());
}

TEST_CASE("offers of keys count, so that nobody probes for ever") {
  Stage stage;
  for (std::uint32_t i = 0; i < kMostAttempts; ++i) stage.admission.judge("run", Proof::KeyOffer, "AAAA");
  CHECK(stage.admission.exhausted());
}

TEST_CASE("a text that is too long to be a code is asked about as none") {
  Stage stage;
  CHECK(stage.admission.judge("run", Proof::Code, std::string(kMostCodeBytes + 1, 'x')) == LoginVerdict::Admit);
  CHECK(stage.judge.asked.at(0).credential.empty());
}

TEST_CASE("what is too long to be a name or a key is refused without being sent") {
  Stage stage;
  CHECK(stage.admission.judge(std::string(65, 'a'), Proof::Code, "x") == LoginVerdict::Refuse);
  CHECK(stage.admission.judge("run", Proof::KeyOffer, std::string(kMostKeyBase64 + 1, 'A')) == LoginVerdict::Refuse);
  CHECK(stage.judge.asked.empty());
  CHECK(stage.admission.last_user() == "run");
}

TEST_CASE("who is in is not judged again") {
  Stage stage;
  REQUIRE(stage.admission.judge("run", Proof::None, {}) == LoginVerdict::Admit);
  CHECK(stage.admission.judge("python", Proof::None, {}) == LoginVerdict::Refuse);
  CHECK(stage.admission.profile() == "run");
}
