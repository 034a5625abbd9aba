// Digest: SHA-256 of a stream, fed in pieces (FIPS 180-4). libcrypto's block function, so SHA extensions are used where
// the processor has them. Cannot fail, allocates nothing.
#pragma once

#define OPENSSL_SUPPRESS_DEPRECATED  // SHA256_* is marked old in favour of EVP, which needs a heap and locks
#include <openssl/sha.h>

#include <array>
#include <cstdint>
#include <span>

namespace mayfly {

class Digest {
 public:
  Digest();
  void add(std::span<const char> bytes);
  // Of everything added so far; the digest can go on.
  [[nodiscard]] std::array<std::uint8_t, 32> value() const;

 private:
  SHA256_CTX state_;
};

}  // namespace mayfly
