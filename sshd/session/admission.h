// Admission to a session: counts what was tried and remembers who was let in. The supervisor judges (wire/lease.h,
// LogIn); libssh's callbacks bring what the peer showed. Pure, but for the one question.
//
// Name and proof come from one and the same request; nothing of an earlier one counts. A name that is no profile is
// refused as a wrong credential is, by the same path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jail/wire/lease.h"

namespace mayfly {

// What came with one authentication request.
enum class Proof : unsigned char {
  None,            // the none method
  Code,            // a password, or the answer of a keyboard-interactive exchange
  KeyOffer,        // a public key without a signature: a question whether it would do
  KeySignature,    // a public key with a signature that is good
  KeyBadSignature  // ... that is not
};

enum class LoginVerdict : unsigned char { Refuse, GoOn, Admit };  // GoOn: the offered key would do, sign with it

inline constexpr std::uint32_t kMostAttempts = 6;

// Asks the supervisor. Nothing: it does not answer, and nobody is let in.
class LoginJudge {
 public:
  virtual std::optional<LoginJudged> judge_login(const LogIn& login) = 0;

 protected:
  ~LoginJudge() = default;
};

class Admission {
 public:
  Admission(LoginJudge& judge, std::string source, std::string host)
      : judge_(judge), source_(std::move(source)), host_(std::move(host)) {}

  // Every refused request counts as an attempt, and so does every offer, so that nobody probes keys for ever. The first
  // request without any proof is free: clients make it to learn what else there is.
  // `credential`: of Code as typed; of a key its public half in base64.
  LoginVerdict judge(std::string_view user, Proof proof, std::string_view credential);

  [[nodiscard]] bool admitted() const { return admitted_; }
  [[nodiscard]] const std::string& profile() const { return profile_; }  // once admitted
  [[nodiscard]] const std::string& principal() const { return principal_; }
  [[nodiscard]] const std::optional<std::string>& command() const { return command_; }
  [[nodiscard]] bool exhausted() const { return !admitted_ && attempts_ >= kMostAttempts; }
  [[nodiscard]] const std::string& last_user() const { return last_user_; }  // as named by the peer, cut

 private:
  [[nodiscard]] LoginVerdict judged(std::string_view user, Proof proof, std::string_view credential);

  LoginJudge& judge_;
  std::string source_, host_;
  std::uint32_t attempts_ = 0;
  bool asked_for_nothing_ = false;
  bool admitted_ = false;
  std::string profile_, principal_, last_user_;
  std::optional<std::string> command_;
};

}  // namespace mayfly
