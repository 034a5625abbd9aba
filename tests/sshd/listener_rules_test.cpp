#include <arpa/inet.h>
#include <netinet/in.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "jail/os/peer.h"
#include "sshd/config.h"
#include "sshd/source_limits.h"

using namespace mayfly;

namespace {

Peer v4(const char* host, std::uint16_t port) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  REQUIRE(::inet_pton(AF_INET, host, &in.sin_addr) == 1);
  sockaddr_storage address{};
  std::memcpy(&address, &in, sizeof in);
  return *describe(address);
}

Peer v6(const char* host, std::uint16_t port) {
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(port);
  REQUIRE(::inet_pton(AF_INET6, host, &in.sin6_addr) == 1);
  sockaddr_storage address{};
  std::memcpy(&address, &in, sizeof in);
  return *describe(address);
}

}  // namespace

TEST_CASE("an IPv4 peer counts as itself, an IPv6 peer as its /64") {
  CHECK(v4("192.0.2.7", 50422).text == "192.0.2.7:50422");
  CHECK(v4("192.0.2.7", 50422).source == "192.0.2.7");
  CHECK(v6("2001:db8:1:2:3:4:5:6", 22).text == "[2001:db8:1:2:3:4:5:6]:22");
  CHECK(v6("2001:db8:1:2:3:4:5:6", 22).source == "2001:db8:1:2::/64");
  CHECK(v6("2001:db8:1:2:ffff::1", 22).source == v6("2001:db8:1:2::9", 22).source);
  CHECK(v6("::ffff:192.0.2.7", 22).source == "192.0.2.7");
}

TEST_CASE("loopback is told in both families and in their mixture") {
  CHECK(v4("127.0.0.1", 1).loopback);
  CHECK(v4("127.8.9.1", 1).loopback);
  CHECK(v6("::1", 1).loopback);
  CHECK(v6("::ffff:127.0.0.1", 1).loopback);
  CHECK_FALSE(v4("0.0.0.0", 1).loopback);
  CHECK_FALSE(v4("128.0.0.1", 1).loopback);
  CHECK_FALSE(v6("::", 1).loopback);
  CHECK_FALSE(v6("::ffff:0.0.0.0", 1).loopback);
}

TEST_CASE("one source cannot take every place", "[P42]") {
  SourceLimits limits({5, 3, 3});
  for (int i = 0; i < 3; ++i) CHECK(limits.enter("a") == Entry::Admitted);
  CHECK(limits.enter("a") == Entry::SourceFull);
  CHECK(limits.enter("b") == Entry::Admitted);
  CHECK(limits.enter("c") == Entry::Admitted);
  CHECK(limits.enter("d") == Entry::Full);
  limits.leave("a", Standing::Unauthenticated);
  CHECK(limits.enter("a") == Entry::Admitted);
  CHECK(limits.count() == 5);
  CHECK(limits.unauthenticated() == 5);
}

TEST_CASE("fewer of a source's places are for those who have not logged in", "[P42]") {
  SourceLimits limits({10, 4, 2});
  for (int i = 0; i < 2; ++i) CHECK(limits.enter("a") == Entry::Admitted);
  CHECK(limits.enter("a") == Entry::SourceFull);
  for (int i = 0; i < 2; ++i) limits.authenticated("a");
  CHECK(limits.unauthenticated() == 0);
  for (int i = 0; i < 2; ++i) CHECK(limits.enter("a") == Entry::Admitted);
  for (int i = 0; i < 2; ++i) limits.authenticated("a");
  CHECK(limits.enter("a") == Entry::SourceFull);
  limits.leave("a", Standing::Authenticated);
  CHECK(limits.enter("a") == Entry::Admitted);
  CHECK(limits.unauthenticated() == 1);
  CHECK(limits.count() == 4);
}

TEST_CASE("who leaves without having entered gives nobody a place") {
  SourceLimits limits({1, 1, 1});
  limits.leave("a", Standing::Unauthenticated);
  limits.authenticated("a");
  CHECK(limits.enter("a") == Entry::Admitted);
  CHECK(limits.enter("b") == Entry::Full);
}

TEST_CASE("a peer has its whole address, and for limits that of its network") {
  sockaddr_storage address{};
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(22);
  REQUIRE(::inet_pton(AF_INET6, "2001:db8:1:2::5", &v6.sin6_addr) == 1);
  const auto peer = describe(address);
  REQUIRE(peer);
  CHECK(peer->text == "[2001:db8:1:2::5]:22");
  CHECK(peer->host == "2001:db8:1:2::5");
  CHECK(peer->source == "2001:db8:1:2::/64");
  REQUIRE(::inet_pton(AF_INET6, "::ffff:192.0.2.1", &v6.sin6_addr) == 1);
  CHECK(describe(address)->host == "192.0.2.1");
  CHECK(describe(address)->source == "192.0.2.1");
}

TEST_CASE("a configuration with the lease alone has the defaults") {
  const auto config = decode_sshd_config(R"({"lease":"/run/mayfly/lease.sock"})");
  REQUIRE(config);
  CHECK(config->access.open);
  CHECK_FALSE(config->access.keys);
  CHECK_FALSE(config->access.invites);
  CHECK_FALSE(config->open_on_network);
  CHECK_FALSE(config->penalise_loopback);
}

TEST_CASE("a configuration that says more than is understood is refused") {
  for (const char* text :
       {"", "[]", "{}", R"({"lease":1})", R"({"lease":"/l","access":["doors"]})", R"({"lease":"/l","access":[1]})",
        R"({"lease":"/l","access":[]})", R"({"lease":"/l","profiles":["run"]})", R"({"lease":"/l","logLevel":"loud"})",
        R"({"lease":"/l","openOnNetwork":"yes"})", R"({"lease":"/l","penaliseLoopback":1})",
        R"({"lease":"/l","authorizedKeys":"/etc/keys"})", R"({"lease":"/l","lease":"/m"})"}) {
    INFO(text);
    CHECK_FALSE(decode_sshd_config(text));
  }
}
