#include "sshd/session/algorithms.h"

#include <array>

namespace mayfly {

namespace {

constexpr const char* kKeyExchange = "curve25519-sha256,curve25519-sha256@libssh.org";
constexpr const char* kHostKeys = "ssh-ed25519";
// No AES-GCM: libssh without the fix for CVE-2026-59847 never checks its tag. The build refuses such a libssh; this is
// the second belt.
constexpr const char* kCiphers = "chacha20-poly1305@openssh.com,aes256-ctr,aes192-ctr,aes128-ctr";
constexpr const char* kMacs = "hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com";
constexpr const char* kClientKeys =
    "ssh-ed25519,sk-ssh-ed25519@openssh.com,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,"
    "sk-ecdsa-sha2-nistp256@openssh.com,rsa-sha2-512,rsa-sha2-256";
// The supervisor refuses keys below 3072 bits: libssh gives no answer at all to a key that is too small for it, and its
// client waits until the grace time is over. This is the smallest number that it takes.
constexpr int kRsaMinBits = 768;
constexpr const char* kBanner = "mayfly_" MAYFLY_VERSION;

struct Row {
  ssh_bind_options_e option;
  const char* value;
  const char* what;
};

constexpr std::array kRows = {
    Row{SSH_BIND_OPTIONS_KEY_EXCHANGE, kKeyExchange, "key exchange"},
    Row{SSH_BIND_OPTIONS_HOSTKEY_ALGORITHMS, kHostKeys, "host key algorithms"},
    Row{SSH_BIND_OPTIONS_CIPHERS_C_S, kCiphers, "ciphers from client"},
    Row{SSH_BIND_OPTIONS_CIPHERS_S_C, kCiphers, "ciphers to client"},
    Row{SSH_BIND_OPTIONS_HMAC_C_S, kMacs, "MACs from client"},
    Row{SSH_BIND_OPTIONS_HMAC_S_C, kMacs, "MACs to client"},
    Row{SSH_BIND_OPTIONS_PUBKEY_ACCEPTED_KEY_TYPES, kClientKeys, "client key types"},
    Row{SSH_BIND_OPTIONS_BANNER, kBanner, "banner"},
};

}  // namespace

Expected<void> configure(ssh_bind bind) {
  // Otherwise ssh_bind_accept_fd reads /etc/ssh/libssh_server_config by itself.
  bool process_config = false;
  if (ssh_bind_options_set(bind, SSH_BIND_OPTIONS_PROCESS_CONFIG, &process_config) != SSH_OK)
    return failure("set ssh option", 0, "process config", ssh_get_error(bind));
  int bits = kRsaMinBits;
  if (ssh_bind_options_set(bind, SSH_BIND_OPTIONS_RSA_MIN_SIZE, &bits) != SSH_OK)
    return failure("set ssh option", 0, "smallest RSA key", ssh_get_error(bind));
  for (const Row& row : kRows)
    if (ssh_bind_options_set(bind, row.option, row.value) != SSH_OK)
      return failure("set ssh option", 0, row.what, ssh_get_error(bind));
  return {};
}

}  // namespace mayfly
