// The service's SSH host key: <state>/host_key, an OpenSSH private key (ed25519), mode 0600.
// Made on the first start by `mayfly-sshd --generate-host-key` (the keeper parses nothing and links no cryptography),
// never replaced afterwards: who has been shown its fingerprint must be able to rely on it.
#pragma once

#include <cstdint>
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
  std::string digest;       // the same in hex
};
// From the private key's text: the public part stands in it unencrypted (PROTOCOL.key of OpenSSH).
Expected<PublicKey> public_key_of(const std::string& private_key);

// How people reach the service: what they write behind ssh's "@" and "-p".
struct HostPlace {
  std::string host;
  std::uint16_t port = 0;
};
// A host name or a numeric address. Fails on anything that would mean something else in known_hosts or in a zone file.
Expected<HostPlace> make_host_place(const std::string& host, std::uint16_t port);
// One line of known_hosts (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT): "[192.0.2.1]:2222 ssh-ed25519 AAAA..."; for port 22,
// which clients leave out, "192.0.2.1 ssh-ed25519 AAAA...".
std::string known_hosts_line(const PublicKey& key, const HostPlace& place);
// One resource record (RFC 4255, RFC 7479): "host IN SSHFP 4 2 <hex>". It knows no port.
std::string sshfp_line(const PublicKey& key, const HostPlace& place);

}  // namespace mayfly
