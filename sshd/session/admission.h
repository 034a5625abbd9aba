// Admission to a session: who may log in as what. Pure; libssh's callbacks ask it (authentication.h).
//
// `open` access takes the none method, any password and any key whose signature libssh has verified. The name of the
// user is the profile; a name that is none is refused as a wrong credential would be, by the same path.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sshd/config.h"

namespace mayfly {

// What came with one authentication request.
enum class Proof : unsigned char {
  None,            // the none method
  Password,        // some password
  KeyOffer,        // a public key without a signature: a question whether it would do
  KeySignature,    // a public key with a signature that is good
  KeyBadSignature  // ... that is not
};

enum class LoginVerdict : unsigned char { Refuse, GoOn, Admit };  // GoOn: the offered key would do, sign with it

inline constexpr std::uint32_t kMostAttempts = 6;

class Admission {
 public:
  explicit Admission(const SshdConfig& config) : config_(config) {}

  // Every refused request counts as an attempt, and so does every offer, so that nobody probes keys for ever.
  LoginVerdict judge(std::string_view user, Proof proof);

  [[nodiscard]] bool admitted() const { return admitted_; }
  [[nodiscard]] const std::string& profile() const { return profile_; }  // once admitted
  [[nodiscard]] bool exhausted() const { return !admitted_ && attempts_ >= kMostAttempts; }

 private:
  [[nodiscard]] LoginVerdict judged(std::string_view user, Proof proof) const;

  const SshdConfig& config_;
  std::uint32_t attempts_ = 0;
  bool admitted_ = false;
  std::string profile_;
};

}  // namespace mayfly
