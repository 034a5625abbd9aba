#include "jail/witness/digest.h"

namespace mayfly {

Digest::Digest() { SHA256_Init(&state_); }

void Digest::add(std::span<const char> bytes) { SHA256_Update(&state_, bytes.data(), bytes.size()); }

std::array<std::uint8_t, 32> Digest::value() const {
  SHA256_CTX copy = state_;
  std::array<std::uint8_t, 32> digest{};
  SHA256_Final(digest.data(), &copy);
  return digest;
}

}  // namespace mayfly
