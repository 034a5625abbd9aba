#include <catch2/catch.hpp>

#include "jail/cli/host_key.h"

using namespace mayfly;

namespace {

// Made for this test by ssh-keygen -t ed25519 -C test; guards nothing.
constexpr const char* kPrivate = R"(-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW
QyNTUxOQAAACBc1MTVoaWzyKLAdCcqrUi/dIGkYRjQO03bZgILxGMXkgAAAIihFzpuoRc6
bgAAAAtzc2gtZWQyNTUxOQAAACBc1MTVoaWzyKLAdCcqrUi/dIGkYRjQO03bZgILxGMXkg
AAAEDHiMNdbvWipM7ZfX+cpH4nAJPJ3/gRgbFOonndlSn4X1zUxNWhpbPIosB0JyqtSL90
gaRhGNA7TdtmAgvEYxeSAAAABHRlc3QB
-----END OPENSSH PRIVATE KEY-----
)";
constexpr const char* kPublic = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFzUxNWhpbPIosB0JyqtSL90gaRhGNA7TdtmAgvEYxeS";
constexpr const char* kFingerprint = "SHA256:Ien0kD+xW2WkW4xzCUXQAsvRQPGGjXivUyFRKyf42jw";

}  // namespace

TEST_CASE("the public key and the fingerprint are those that ssh-keygen prints") {
  const auto key = public_key_of(kPrivate);
  REQUIRE(key);
  CHECK(key->line == kPublic);
  CHECK(key->fingerprint == kFingerprint);
}

TEST_CASE("known_hosts has the port where it is not 22, and the address of IPv6 as it is") {
  const auto key = public_key_of(kPrivate);
  REQUIRE(key);
  const std::string line = kPublic;
  CHECK(known_hosts_line(*key, {"127.0.0.1", 2222}) == "[127.0.0.1]:2222 " + line);
  CHECK(known_hosts_line(*key, {"jail.example.org", 22}) == "jail.example.org " + line);
  CHECK(known_hosts_line(*key, {"::1", 2222}) == "[::1]:2222 " + line);
  CHECK(known_hosts_line(*key, {"::1", 22}) == "::1 " + line);
}

TEST_CASE("the SSHFP record is the one that ssh-keygen -r prints for SHA-256") {
  const auto key = public_key_of(kPrivate);
  REQUIRE(key);
  CHECK(sshfp_line(*key, {"jail.example.org", 2222}) ==
        "jail.example.org IN SSHFP 4 2 21e9f4903fb15b65a45b8c730945d002cbd140f1868d78af5321512b27f8da3c");
}

TEST_CASE("a host that would be syntax in known_hosts or in a zone file is refused") {
  for (const char* host : {"", "a b", "a,b", "*.example.org", "!a", "|1|x", "@revoked", "#a", "a\nb", "[::1]", "-p",
                           "a;b", "a\"b", "$x", "\xc3\xa4"}) {
    INFO(host);
    CHECK_FALSE(make_host_place(host, 22));
  }
  CHECK_FALSE(make_host_place(std::string(254, 'a'), 22));
  CHECK_FALSE(make_host_place("localhost", 0));
  for (const char* host : {"localhost", "jail.example.org.", "192.0.2.1", "::1", "fe80::1%eth0", "my_host-2"}) {
    INFO(host);
    CHECK(make_host_place(host, 22));
  }
}

TEST_CASE("what is no private key is refused") {
  CHECK_FALSE(public_key_of(""));
  CHECK_FALSE(public_key_of("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"));
  const std::string whole = kPrivate;
  const std::string cut = whole.substr(0, 36) + whole.substr(36, 60) + "\n-----END OPENSSH PRIVATE KEY-----\n";
  CHECK_FALSE(public_key_of(cut));
}
