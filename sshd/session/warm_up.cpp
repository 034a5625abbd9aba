#include "sshd/session/warm_up.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <memory>

namespace mayfly {

namespace {

template <auto free>
struct Freed {
  template <typename T>
  void operator()(T* what) const {
    free(what);
  }
};
using KeyMaker = std::unique_ptr<EVP_PKEY_CTX, Freed<EVP_PKEY_CTX_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Digest = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, Freed<EVP_CIPHER_CTX_free>>;
using Block = std::array<unsigned char, 64>;

Key make_key(int kind) {
  const KeyMaker maker(EVP_PKEY_CTX_new_id(kind, nullptr));
  EVP_PKEY* key = nullptr;
  if (maker && EVP_PKEY_keygen_init(maker.get()) == 1) (void)EVP_PKEY_keygen(maker.get(), &key);
  return Key(key);
}

void agree_on_secret() {
  const Key ours = make_key(EVP_PKEY_X25519);
  const Key theirs = make_key(EVP_PKEY_X25519);
  const KeyMaker secret(EVP_PKEY_CTX_new(ours.get(), nullptr));
  Block shared{};
  std::size_t length = shared.size();
  if (secret && theirs && EVP_PKEY_derive_init(secret.get()) == 1 &&
      EVP_PKEY_derive_set_peer(secret.get(), theirs.get()) == 1)
    (void)EVP_PKEY_derive(secret.get(), shared.data(), &length);
}

void sign_as_host() {
  const Key key = make_key(EVP_PKEY_ED25519);
  const Digest digest(EVP_MD_CTX_new());
  const Block text{};
  Block signature{};
  std::size_t length = signature.size();
  if (key && digest && EVP_DigestSignInit(digest.get(), nullptr, nullptr, nullptr, key.get()) == 1)
    (void)EVP_DigestSign(digest.get(), signature.data(), &length, text.data(), text.size());
}

void authenticate(const EVP_MD* kind) {
  const Block secret{};
  const Key key(EVP_PKEY_new_mac_key(EVP_PKEY_HMAC, nullptr, secret.data(), 32));
  const Digest digest(EVP_MD_CTX_new());
  Block mac{};
  std::size_t length = mac.size();
  if (!key || !digest || EVP_DigestSignInit(digest.get(), nullptr, kind, nullptr, key.get()) != 1) return;
  (void)EVP_DigestSignUpdate(digest.get(), secret.data(), secret.size());
  (void)EVP_DigestSignFinal(digest.get(), mac.data(), &length);
}

void encrypt(const EVP_CIPHER* kind) {
  const Cipher cipher(EVP_CIPHER_CTX_new());
  const Block key{};
  Block bytes{};
  int length = 0;
  if (cipher && EVP_EncryptInit_ex(cipher.get(), kind, nullptr, key.data(), key.data()) == 1)
    (void)EVP_EncryptUpdate(cipher.get(), bytes.data(), &length, key.data(), static_cast<int>(key.size()));
}

}  // namespace

void warm_up_crypto() {
  Block bytes{};
  (void)RAND_bytes(bytes.data(), static_cast<int>(bytes.size()));
  agree_on_secret();
  sign_as_host();
  authenticate(EVP_sha256());
  encrypt(EVP_aes_128_ctr());
  encrypt(EVP_chacha20());
}

}  // namespace mayfly
