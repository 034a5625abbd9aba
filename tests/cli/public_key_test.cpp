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

TEST_CASE("what is no private key is refused") {
  CHECK_FALSE(public_key_of(""));
  CHECK_FALSE(public_key_of("-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n"));
  const std::string whole = kPrivate;
  const std::string cut = whole.substr(0, 36) + whole.substr(36, 60) + "\n-----END OPENSSH PRIVATE KEY-----\n";
  CHECK_FALSE(public_key_of(cut));
}
