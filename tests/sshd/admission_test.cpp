#include "sshd/session/admission.h"

#include <catch2/catch.hpp>

using namespace mayfly;

namespace {
const SshdConfig kOpen = [] {
  SshdConfig config;
  config.lease = "/run/mayfly/lease.sock";
  return config;
}();
}  // namespace

TEST_CASE("open access admits by none, by any password and by any good signature", "[P41]") {
  for (const Proof proof : {Proof::None, Proof::Password, Proof::KeySignature}) {
    Admission admission(kOpen);
    CHECK(admission.judge("python", proof) == LoginVerdict::Admit);
    CHECK(admission.admitted());
    CHECK(admission.profile() == "python");
  }
}

TEST_CASE("a key that was only offered, or signed badly, admits nobody", "[P41]") {
  Admission admission(kOpen);
  CHECK(admission.judge("run", Proof::KeyOffer) == LoginVerdict::GoOn);
  CHECK_FALSE(admission.admitted());
  CHECK(admission.judge("run", Proof::KeyBadSignature) == LoginVerdict::Refuse);
  CHECK_FALSE(admission.admitted());
}

TEST_CASE("the profile is the one that came with the proof, not one named before", "[P41]") {
  Admission admission(kOpen);
  CHECK(admission.judge("python", Proof::KeyOffer) == LoginVerdict::GoOn);
  CHECK(admission.judge("run", Proof::KeySignature) == LoginVerdict::Admit);
  CHECK(admission.profile() == "run");
}

TEST_CASE("a name that is no profile is refused whatever comes with it") {
  for (const char* name : {"", "root", "../run", "run ", "RUN", "run\x1b[31m"})
    for (const Proof proof : {Proof::None, Proof::Password, Proof::KeyOffer, Proof::KeySignature}) {
      Admission admission(kOpen);
      CHECK(admission.judge(name, proof) == LoginVerdict::Refuse);
      CHECK_FALSE(admission.admitted());
    }
}

TEST_CASE("after six refusals nothing is admitted any more") {
  Admission admission(kOpen);
  for (std::uint32_t i = 0; i < kMostAttempts; ++i) {
    CHECK_FALSE(admission.exhausted());
    admission.judge("nobody", Proof::Password);
  }
  CHECK(admission.exhausted());
  CHECK(admission.judge("run", Proof::None) == LoginVerdict::Refuse);
  CHECK_FALSE(admission.admitted());
}

TEST_CASE("offers of keys count, so that nobody probes for ever") {
  Admission admission(kOpen);
  for (std::uint32_t i = 0; i < kMostAttempts; ++i) admission.judge("run", Proof::KeyOffer);
  CHECK(admission.exhausted());
}

TEST_CASE("who is in is not judged again") {
  Admission admission(kOpen);
  REQUIRE(admission.judge("run", Proof::None) == LoginVerdict::Admit);
  CHECK(admission.judge("python", Proof::None) == LoginVerdict::Refuse);
  CHECK(admission.profile() == "run");
}
