#include "sshd/session/admission.h"

namespace mayfly {

namespace {

constexpr std::size_t kMostUserBytes = 64;  // longer names are nobody's

LoginWay way_of(Proof proof) {
  switch (proof) {
    case Proof::Code:
      return LoginWay::Code;
    case Proof::KeyOffer:
      return LoginWay::KeyOffer;
    case Proof::KeySignature:
      return LoginWay::Key;
    case Proof::None:
    case Proof::KeyBadSignature:
      return LoginWay::None;
  }
  return LoginWay::None;
}

}  // namespace

LoginVerdict Admission::judge(std::string_view user, Proof proof, std::string_view credential) {
  if (admitted_ || exhausted()) return LoginVerdict::Refuse;
  last_user_ = user.substr(0, kMostUserBytes);
  const LoginVerdict verdict = judged(user, proof, credential);
  if (verdict == LoginVerdict::Admit) return verdict;
  const bool is_free = proof == Proof::None && !asked_for_nothing_;
  if (proof == Proof::None) asked_for_nothing_ = true;
  if (!is_free) ++attempts_;
  return exhausted() ? LoginVerdict::Refuse : verdict;
}

LoginVerdict Admission::judged(std::string_view user, Proof proof, std::string_view credential) {
  if (proof == Proof::KeyBadSignature) return LoginVerdict::Refuse;
  if (proof == Proof::Code && credential.size() > kMostCodeBytes) credential = {};  // no code, and maybe none is needed
  if (user.size() > kMostUserBytes || credential.size() > kMostKeyBase64) return LoginVerdict::Refuse;
  const LogIn login{way_of(proof), std::string(user), std::string(credential), source_, host_};
  const std::optional<LoginJudged> answer = judge_.judge_login(login);
  if (!answer || !answer->good) return LoginVerdict::Refuse;
  if (proof == Proof::KeyOffer) return LoginVerdict::GoOn;
  if (answer->principal.empty()) return LoginVerdict::Refuse;  // not the answer to this
  admitted_ = true;
  profile_ = user;
  principal_ = answer->principal;
  command_ = answer->command;
  return LoginVerdict::Admit;
}

}  // namespace mayfly
