// from="...": whom each pattern lets in, and what is no pattern.
#include <catch2/catch.hpp>

#include "jail/supervisor/authorized_keys.h"
#include "jail/supervisor/source_pattern.h"
#include "tests/supervisor/authorized_keys_samples.h"

using namespace mayfly;

namespace {

struct Row {
  std::string_view list;
  std::string_view source;
  bool lets_in;
};

void check(const std::vector<Row>& table) {
  for (const auto& [list, source, lets_in] : table) {
    CAPTURE(list, source);
    const auto patterns = read_source_patterns(list);
    REQUIRE(patterns);
    CHECK(comes_from(*patterns, source) == lets_in);
  }
}

}  // namespace

TEST_CASE("an address means itself, however it is written") {
  check({{"192.0.2.1", "192.0.2.1", true},
         {"192.0.2.1", "192.0.2.10", false},
         {"192.0.2.1", "2001:db8::1", false},
         {"2001:db8::1", "2001:db8::1", true},
         {"2001:DB8:0:0:0::0001", "2001:db8::1", true},
         {"2001:db8::1", "2001:db8::11", false},
         {"::1", "::1", true},
         {"192.0.2.2,192.0.2.1", "192.0.2.1", true}});
}

TEST_CASE("a network means what is under its mask, in its own family") {
  check({{"192.0.2.0/24", "192.0.2.0", true},
         {"192.0.2.0/24", "192.0.2.255", true},
         {"192.0.2.0/24", "192.0.3.0", false},
         {"192.0.2.128/25", "192.0.2.127", false},
         {"192.0.2.128/25", "192.0.2.128", true},
         {"10.32.0.0/11", "10.63.255.255", true},
         {"10.32.0.0/11", "10.64.0.0", false},
         {"192.0.2.1/32", "192.0.2.1", true},
         {"192.0.2.1/32", "192.0.2.0", false},
         {"0.0.0.0/0", "255.255.255.255", true},
         {"0.0.0.0/0", "::1", false},
         {"2001:db8::/32", "2001:db8:ffff::1", true},
         {"2001:db8::/32", "2001:db9::1", false},
         {"2001:db8::/33", "2001:db8:8000::", false},
         {"2001:db8::1/128", "2001:db8::1", true},
         {"::/0", "2001:db8::1", true},
         {"::/0", "192.0.2.1", false}});
}

TEST_CASE("wildcards mean texts of addresses, as RFC 5952 writes them") {
  check({{"*", "192.0.2.1", true},
         {"*", "2001:db8::1", true},
         {"192.0.2.*", "192.0.2.77", true},
         {"192.0.2.*", "192.0.20.7", false},
         {"192.0.2.?", "192.0.2.7", true},
         {"192.0.2.?", "192.0.2.77", false},
         {"192.0.2.??", "192.0.2.77", true},
         {"*.2.1", "192.0.2.1", true},
         {"*.2.1", "192.0.2.11", false},
         {"1*.0*.1", "192.0.2.1", true},
         {"192.0.2.1*", "192.0.2.1", true},
         {"*:db8:*", "2001:db8::1", true},
         {"2001:DB8:*", "2001:0DB8:0::1", true},
         {"2001:db8:*", "2001:db9::1", false},
         {"?*?", "::1", true},
         {"????", "::1", false},
         {"*1*1*1*1*1*1*1*1*1*1*1*1*1*2", "111.111.111.111", false}});
}

TEST_CASE("a negated pattern wins wherever it stands, and negated patterns alone let nobody in") {
  check({{"192.0.2.0/24,!192.0.2.9", "192.0.2.8", true},
         {"192.0.2.0/24,!192.0.2.9", "192.0.2.9", false},
         {"!192.0.2.9,192.0.2.0/24", "192.0.2.9", false},
         {"!192.0.2.*,*", "192.0.2.9", false},
         {"!10.0.0.0/8,*", "10.1.2.3", false},
         {"!10.0.0.0/8,*", "11.1.2.3", true},
         {"!2001:db8::/32,*", "2001:db8::7", false},
         {"!10.0.0.0/8", "192.0.2.1", false}});
}

TEST_CASE("an IPv4 address within IPv6 counts as the IPv4 address") {
  check({{"192.0.2.1", "::ffff:192.0.2.1", true},
         {"192.0.2.1", "::FFFF:c000:201", true},
         {"192.0.2.0/24", "::ffff:192.0.2.77", true},
         {"192.0.2.*", "::ffff:192.0.2.77", true},
         {"::ffff:*", "::ffff:192.0.2.77", false},
         {"::/0", "::ffff:192.0.2.1", false},
         {"*,!192.0.2.1", "::ffff:192.0.2.1", false},
         {"::ffff:192.0.2.1", "192.0.2.1", true},
         {"::ffff:192.0.2.0/120", "192.0.2.77", true},
         {"::ffff:192.0.2.0/120", "192.0.3.77", false},
         {"::ffff:0:0/96", "192.0.2.1", true},
         {"*,!::ffff:192.0.2.1", "192.0.2.1", false}});
}

TEST_CASE("a source that is no address comes from elsewhere") {
  for (const char* source : {"", "localhost", "192.0.2", "192.0.2.1 ", "192.0.2.1:22", "[::1]", "fe80::1%eth0", "*",
                             "0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0"})
    check({{"*", source, false}, {"0.0.0.0/0,::/0,*", source, false}});
  check({{"192.0.2.1", std::string_view("192.0.2.1\0", 10), false}});
}

TEST_CASE("what is no pattern over addresses refuses its line") {
  for (const char* list : {"",
                           ",",
                           "192.0.2.1,",
                           ",192.0.2.1",
                           "192.0.2.1,,::1",
                           "!",
                           "!!192.0.2.1",
                           "host",
                           "host.example.org",
                           "*.org",
                           "*.de",
                           "!*.de",
                           "fe80::1%eth0",
                           "192.0.2.1 ",
                           " 192.0.2.1",
                           "192.0.2.1, ::1",
                           "192.0.2",
                           "192.0.2.256",
                           "192.0.02.1",
                           "192.0.02.*",
                           "!192.0.02.*",
                           "0?.*",
                           "2001:0db8:*",
                           "!2001:0db8:*",
                           "::ffff:192.0.2.*",
                           "[::1]",
                           "::1::",
                           "12345::",
                           "*-",
                           "192.0.2.1/",
                           "192.0.2.1/33",
                           "192.0.2.1/032",
                           "192.0.2.1/-1",
                           "192.0.2.1/+8",
                           "192.0.2.1/255.255.255.0",
                           "192.0.2.1/1000",
                           "192.0.2.1/8/8",
                           "/8",
                           "*/8",
                           "192.0.2.*/24",
                           "host/8",
                           "2001:db8::/129",
                           "192.0.2.1/24",
                           "192.0.2.128/24",
                           "11.0.0.0/7,*",
                           "::1/0",
                           "2001:db8::1/127",
                           "::ffff:192.0.2.1/120",
                           "::ffff:0:0/90"}) {
    CAPTURE(list);
    CHECK_FALSE(read_source_patterns(list));
    const std::string line = "from=\"" + std::string(list) + "\" " + std::string(samples::kEd25519);
    const AuthorizedKeys keys = AuthorizedKeys::parse(line);
    CHECK(keys.keys().empty());
    REQUIRE(keys.refused().size() == 1);
    CHECK_THAT(keys.refused()[0].why, Catch::Contains("read from= pattern"));
  }
}

TEST_CASE("what may stand at either end of a network or a wildcard is taken") {
  for (const char* list : {"10.0.0.0/8", "0.0.0.0/0", "::/0", "10.0.*", "0.*", "::*", "0*", "f*", "!*", "10.0.0.?0"}) {
    CAPTURE(list);
    CHECK(read_source_patterns(list));
  }
}
