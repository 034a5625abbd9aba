#include "sshd/session/admission.h"

namespace mayfly {

LoginVerdict Admission::judge(std::string_view user, Proof proof) {
  if (admitted_ || exhausted()) return LoginVerdict::Refuse;
  const LoginVerdict verdict = judged(user, proof);
  if (verdict != LoginVerdict::Admit) {
    ++attempts_;
    return exhausted() ? LoginVerdict::Refuse : verdict;
  }
  // Name and proof come from one and the same request; nothing of an earlier one counts.
  admitted_ = true;
  profile_ = user;
  return verdict;
}

LoginVerdict Admission::judged(std::string_view user, Proof proof) const {
  if (!config_.allows(Access::Open) || !config_.knows_profile(user)) return LoginVerdict::Refuse;
  switch (proof) {
    case Proof::None:
    case Proof::Password:
    case Proof::KeySignature:
      return LoginVerdict::Admit;
    case Proof::KeyOffer:
      return LoginVerdict::GoOn;
    case Proof::KeyBadSignature:
      return LoginVerdict::Refuse;
  }
  return LoginVerdict::Refuse;
}

}  // namespace mayfly
