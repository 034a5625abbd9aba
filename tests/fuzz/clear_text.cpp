// ============================================================================================================
// CLEAR TEXT. THIS FILE TAKES THE SECRECY OUT OF SSH. IT EXISTS IN THE FUZZERS' EXECUTABLES UNDER tests/fuzz AND
// NOWHERE ELSE: no program and no library of mayfly is built from it, linked with it or changed by it.
// ============================================================================================================
//
// A fuzzer that has to encrypt what it tries is a client, and most of what it tries would die at the MAC. Debian's
// libssh has no "none" cipher compiled in. But it calls libcrypto through its procedure linkage table, and a function
// that the executable itself exports comes first there (ld.so(8)). So the five functions below take libcrypto's place,
// and only for calls that come out of libssh: libcrypto and everybody else get the real ones.
//
//   EVP_EncryptUpdate, EVP_DecryptUpdate   aes-ctr leaves the bytes as they are
//   EVP_DigestSignFinal                    every HMAC is zeros (host keys are signed by EVP_DigestSign, which stays)
//   EVP_DigestVerify                       a peer's signature is good exactly when its last byte is kGoodSignature
//   RAND_bytes                             cookies and padding are always the same
//
// What the peer says is a plain sequence of bytes then, and needs no secret of this run. docs/decisions/0014 says what
// is lost by it.
#include <dlfcn.h>
#include <link.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <cstring>
#include <string_view>

#include "tests/fuzz/violation.h"

namespace {

constexpr unsigned char kGoodSignature = 'G';
constexpr unsigned char kRandom = 0x5a;

struct Range {
  std::uintptr_t first = 0, last = 0;
};

int find_libssh(dl_phdr_info* object, std::size_t, void* found) {
  if (std::string_view(object->dlpi_name).find("/libssh.so") == std::string_view::npos) return 0;
  auto& range = *static_cast<Range*>(found);
  range.first = object->dlpi_addr;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& header = object->dlpi_phdr[i];
    if (header.p_type == PT_LOAD) range.last = object->dlpi_addr + header.p_vaddr + header.p_memsz;
  }
  return 1;
}

bool is_libssh(const void* caller) {
  static const Range libssh = [] {
    Range range;
    ::dl_iterate_phdr(find_libssh, &range);
    return range;
  }();
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  return libssh.first <= address && address < libssh.last;
}

template <typename Function>
Function* real(const char* name, Function*) {
  auto* const found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
  if (found == nullptr) mayfly::fuzz::violated("libcrypto has no such function", name);
  return found;
}

int copy(unsigned char* out, int* out_length, const unsigned char* in, int in_length) {
  if (in_length > 0) std::memmove(out, in, static_cast<std::size_t>(in_length));
  *out_length = in_length;
  return 1;
}

}  // namespace

#define REAL(function) real(#function, &function)
#define CALLED_BY_LIBSSH is_libssh(__builtin_return_address(0))

extern "C" {

int EVP_EncryptUpdate(EVP_CIPHER_CTX* context, unsigned char* out, int* out_length, const unsigned char* in,
                      int in_length) {
  if (CALLED_BY_LIBSSH) return copy(out, out_length, in, in_length);
  static auto* const genuine = REAL(EVP_EncryptUpdate);
  return genuine(context, out, out_length, in, in_length);
}

int EVP_DecryptUpdate(EVP_CIPHER_CTX* context, unsigned char* out, int* out_length, const unsigned char* in,
                      int in_length) {
  if (CALLED_BY_LIBSSH) return copy(out, out_length, in, in_length);
  static auto* const genuine = REAL(EVP_DecryptUpdate);
  return genuine(context, out, out_length, in, in_length);
}

int EVP_DigestSignFinal(EVP_MD_CTX* context, unsigned char* signature, std::size_t* length) {
  static auto* const genuine = REAL(EVP_DigestSignFinal);
  const int result = genuine(context, signature, length);
  if (CALLED_BY_LIBSSH && result == 1 && signature != nullptr) std::memset(signature, 0, *length);
  return result;
}

int EVP_DigestVerify(EVP_MD_CTX* context, const unsigned char* signature, std::size_t length,
                     const unsigned char* signed_bytes, std::size_t signed_length) {
  if (CALLED_BY_LIBSSH) return length > 0 && signature[length - 1] == kGoodSignature ? 1 : 0;
  static auto* const genuine = REAL(EVP_DigestVerify);
  return genuine(context, signature, length, signed_bytes, signed_length);
}

int RAND_bytes(unsigned char* bytes, int count) {
  if (CALLED_BY_LIBSSH) {
    std::memset(bytes, kRandom, static_cast<std::size_t>(count));
    return 1;
  }
  static auto* const genuine = REAL(RAND_bytes);
  return genuine(bytes, count);
}

}  // extern "C"
