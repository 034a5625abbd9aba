// SHA-256 of a text (FIPS 180-4). libcrypto's block function without its EVP layer, which would cost the start of every
// private engine some hundred microseconds. Not the one call SHA256(), which goes through EVP (OpenSSL 3.0).
#pragma once

#define OPENSSL_SUPPRESS_DEPRECATED  // SHA256 is marked old in favour of EVP
#include <openssl/sha.h>

#include <array>
#include <cstdint>
#include <string_view>

namespace mayfly {

inline std::array<std::uint8_t, 32> sha256(std::string_view text) {
  std::array<std::uint8_t, 32> digest{};
  SHA256_CTX state;
  ::SHA256_Init(&state);
  ::SHA256_Update(&state, text.data(), text.size());
  ::SHA256_Final(digest.data(), &state);
  return digest;
}

// In the same time wherever they differ. volatile: a compiler may not leave at the first difference.
inline bool is_same_digest(const std::array<std::uint8_t, 32>& one, const std::array<std::uint8_t, 32>& other) {
  volatile std::uint8_t differences = 0;
  for (std::size_t i = 0; i < one.size(); ++i)
    differences = static_cast<std::uint8_t>(differences | (one[i] ^ other[i]));
  return differences == 0;
}

}  // namespace mayfly
