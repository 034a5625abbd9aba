// The service's SSH host key: <state>/host_key, an OpenSSH private key (ed25519), mode 0600.
// Made on the first start by `mayfly-sshd --generate-host-key` (the keeper parses nothing and links no cryptography),
// never replaced afterwards: who has been shown its fingerprint must be able to rely on it.
#pragma once

#include <string>

#include "jail/cli/paths.h"
#include "jail/cli/programs.h"
#include "jail/expected.h"
#include "jail/os/fd.h"

namespace mayfly {

// A sealed memfd with the key. Fails when the file is readable by others or is not ours, and when none can be made.
Expected<Fd> load_or_make_host_key(const std::string& state_directory, const Programs& programs, Privilege privilege);

// What everybody may know of it (public_key.cpp).
struct PublicKey {
  std::string line;         // "ssh-ed25519 AAAA..."
  std::string fingerprint;  // "SHA256:..." as ssh-keygen -l prints it
};
// From the private key's text: the public part stands in it unencrypted (PROTOCOL.key of OpenSSH).
Expected<PublicKey> public_key_of(const std::string& private_key);

}  // namespace mayfly
