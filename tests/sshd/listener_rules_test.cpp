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

TEST_CASE("one source cannot take every place") {
  SourceLimits limits(5, 3);
  for (int i = 0; i < 3; ++i) CHECK(limits.enter("a") == Entry::Admitted);
  CHECK(limits.enter("a") == Entry::SourceFull);
  CHECK(limits.enter("b") == Entry::Admitted);
  CHECK(limits.enter("c") == Entry::Admitted);
  CHECK(limits.enter("d") == Entry::Full);
  limits.leave("a");
  CHECK(limits.enter("a") == Entry::Admitted);
  CHECK(limits.count() == 5);
}

TEST_CASE("leaving without having entered gives nobody a place") {
  SourceLimits limits(1, 1);
  limits.leave("a");
  CHECK(limits.enter("a") == Entry::Admitted);
  CHECK(limits.enter("b") == Entry::Full);
}

TEST_CASE("a configuration with the lease alone has the defaults") {
  const auto config = decode_sshd_config(R"({"lease":"/run/mayfly/lease.sock"})");
  REQUIRE(config);
  CHECK(config->allows(Access::Open));
  CHECK(config->knows_profile("run"));
  CHECK(config->knows_profile("python"));
  CHECK_FALSE(config->knows_profile("perl"));
  CHECK_FALSE(config->open_on_network);
}

TEST_CASE("a configuration that says more than is understood is refused") {
  for (const char* text : {"", "[]", "{}", R"({"lease":1})", R"({"lease":"/l","access":["keys"]})",
                           R"({"lease":"/l","access":[]})", R"({"lease":"/l","profiles":[1]})",
                           R"({"lease":"/l","profiles":[""]})", R"({"lease":"/l","openOnNetwork":"yes"})",
                           R"({"lease":"/l","authorizedKeys":"/etc/keys"})", R"({"lease":"/l","lease":"/m"})"}) {
    INFO(text);
    CHECK_FALSE(decode_sshd_config(text));
  }
}
