// The host key: an ed25519 key in OpenSSH's private key format, made once and given to every session in a sealed memfd.
#pragma once

#include <libssh/libssh.h>

#include <memory>
#include <string>

#include "jail/expected.h"
#include "jail/os/fd.h"

namespace mayfly {

struct KeyDeleter {
  void operator()(ssh_key key) const { ssh_key_free(key); }
};
using HostKey = std::unique_ptr<ssh_key_struct, KeyDeleter>;

// The text of the key is wiped from memory once libssh has it. Anything but ed25519 is refused.
Expected<HostKey> read_host_key(const Fd& memfd);
Expected<std::string> generate_host_key();

}  // namespace mayfly
