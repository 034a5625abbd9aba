#include "sshd/session/host_key.h"

#include <string.h>  // explicit_bzero

#include "jail/os/memfd.h"

namespace mayfly {

namespace {
constexpr std::uint64_t kMostKeyBytes = 16 * 1024;
}

Expected<HostKey> read_host_key(const Fd& memfd) {
  TRY(sealed_size(memfd, kMostKeyBytes));
  std::string text = TRY(read_whole(memfd, kMostKeyBytes));
  ssh_key key = nullptr;
  const int imported = ssh_pki_import_privkey_base64(text.c_str(), nullptr, nullptr, nullptr, &key);
  ::explicit_bzero(text.data(), text.size());
  HostKey owned(key);
  if (imported != SSH_OK) return failure("read host key", 0, {}, "it is not a private key without a passphrase");
  if (ssh_key_type(key) != SSH_KEYTYPE_ED25519) return failure("use host key", 0, {}, "only ed25519 is offered");
  return owned;
}

Expected<std::string> generate_host_key() {
  ssh_key key = nullptr;
  if (ssh_pki_generate(SSH_KEYTYPE_ED25519, 0, &key) != SSH_OK) return failure("generate host key", 0);
  const HostKey owned(key);
  char* text = nullptr;
  if (ssh_pki_export_privkey_base64(key, nullptr, nullptr, nullptr, &text) != SSH_OK || text == nullptr)
    return failure("write host key", 0);
  std::string copy = text;
  ::explicit_bzero(text, copy.size());
  ssh_string_free_char(text);
  return copy;
}

}  // namespace mayfly
