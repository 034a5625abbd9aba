#include "sshd/session/admission.h"

namespace mayfly {

Verdict Admission::judge(std::string_view user, Proof proof) {
  if (admitted_ || exhausted()) return Verdict::Refuse;
  const Verdict verdict = judged(user, proof);
  if (verdict != Verdict::Admit) {
    ++attempts_;
    return exhausted() ? Verdict::Refuse : verdict;
  }
  // Name and proof come from one and the same request; nothing of an earlier one counts.
  admitted_ = true;
  profile_ = user;
  return verdict;
}

Verdict Admission::judged(std::string_view user, Proof proof) const {
  if (!config_.allows(Access::Open) || !config_.knows_profile(user)) return Verdict::Refuse;
  switch (proof) {
    case Proof::None:
    case Proof::Password:
    case Proof::KeySignature: return Verdict::Admit;
    case Proof::KeyOffer: return Verdict::GoOn;
    case Proof::KeyBadSignature: return Verdict::Refuse;
  }
  return Verdict::Refuse;
}

}  // namespace mayfly
