#include "jail/cli/listeners.h"

#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "jail/os/unix_socket.h"
#include "tests/cli/temporary_directory.h"

using namespace mayfly;

TEST_CASE("addresses are numbers with a port, and loopback is known as such") {
  CHECK(parse_address("127.0.0.1:2222")->is_loopback);
  CHECK(parse_address("127.8.9.10:1")->is_loopback);
  CHECK(parse_address("localhost:2222")->text == "127.0.0.1:2222");
  CHECK(parse_address("[::1]:2222")->is_loopback);
  CHECK(parse_address("[::1]:2222")->text == "[::1]:2222");
  CHECK_FALSE(parse_address("0.0.0.0:80")->is_loopback);
  CHECK_FALSE(parse_address("*:80")->is_loopback);
  CHECK_FALSE(parse_address("192.0.2.1:80")->is_loopback);
  for (const char* text : {"", "2222", ":2222", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:22x",
                           "host.example:22", "127.0.0.1"})
    CHECK_FALSE(parse_address(text));
}

TEST_CASE("a busy port names the address and its holder") {
  const auto first = listen_tcp(*parse_address("127.0.0.1:0"), "ssh");
  REQUIRE(first);
  CHECK(first->bound.port != 0);
  const auto second = listen_tcp(*parse_address(first->bound.text), "ssh");
  REQUIRE_FALSE(second);
  const std::string message = second.error().text();
  CHECK(message.find(first->bound.text) != std::string::npos);
  CHECK(message.find("pid " + std::to_string(::getpid())) != std::string::npos);
}

TEST_CASE("the sockets of a rootless engine are its owner's alone") {
  test::TemporaryDirectory directory;
  Paths paths;
  paths.state = paths.run = paths.runtime = directory.path();
  const auto sockets = listen_unix(paths, Privilege::Rootless, "0123456789ab");
  REQUIRE(sockets);
  CHECK(sockets->lease_path == directory.path() + "/lease.sock");
  struct stat found {};
  REQUIRE(::stat(sockets->lease_path.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0600);
  CHECK(connect_to(sockets->lease_path));
  CHECK(connect_to(directory.path() + "/monitor.sock"));
}
