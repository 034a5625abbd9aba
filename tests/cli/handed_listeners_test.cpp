#include "jail/cli/handed_listeners.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>

using namespace mayfly;

namespace {

constexpr pid_t kSelf = 4711;
using Names = std::vector<std::string>;

Fd duplicate(const Fd& of) { return Fd(::fcntl(of.get(), F_DUPFD, 10)); }
Fd make_socket(int family, int type) { return Fd(::socket(family, type | SOCK_CLOEXEC, 0)); }

std::string refusal(Fd socket) {
  const auto taken = adopt_listener(std::move(socket), "ssh");
  REQUIRE_FALSE(taken);
  return taken.error().text();
}

}  // namespace

TEST_CASE("sockets that are handed over have the names ssh and http, in any order") {
  CHECK(handed_names({"4711", "1", "ssh"}, kSelf).value() == Names{"ssh"});
  CHECK(handed_names({"4711", "2", "http:ssh"}, kSelf).value() == Names{"http", "ssh"});
}

TEST_CASE("variables that are absent, or for another process, hand nothing over") {
  CHECK(handed_names({nullptr, nullptr, nullptr}, kSelf).value().empty());
  CHECK(handed_names({nullptr, "1", "ssh"}, kSelf).value().empty());
  CHECK(handed_names({"4711", nullptr, "ssh"}, kSelf).value().empty());
  CHECK(handed_names({"4712", "1", "ssh"}, kSelf).value().empty());
  CHECK(handed_names({"4711x", "1", "ssh"}, kSelf).value().empty());
  CHECK(handed_names({"4711", "0", ""}, kSelf).value().empty());
}

TEST_CASE("names that are missing, unknown or there twice refuse the start") {
  for (const ListenEnvironment& bad :
       {ListenEnvironment{"4711", "1", nullptr}, ListenEnvironment{"4711", "2", "ssh"},
        ListenEnvironment{"4711", "1", "ssh:http"}, ListenEnvironment{"4711", "1", ""},
        ListenEnvironment{"4711", "1", "mayfly-ssh.socket"}, ListenEnvironment{"4711", "2", "ssh:ssh"},
        ListenEnvironment{"4711", "3", "ssh:http:ssh"}, ListenEnvironment{"4711", "-1", "ssh"},
        ListenEnvironment{"4711", "x", "ssh"}}) {
    INFO(bad.fds << " " << (bad.names == nullptr ? "-" : bad.names));
    CHECK_FALSE(handed_names(bad, kSelf));
  }
}

TEST_CASE("a listening TCP socket is taken with its address, and no child inherits it") {
  const auto made = listen_tcp(*parse_address("127.0.0.1:0"), "ssh");
  REQUIRE(made);
  const auto taken = adopt_listener(duplicate(made->socket), "ssh");
  REQUIRE(taken);
  CHECK(taken->bound.text == made->bound.text);
  CHECK(taken->bound.port == made->bound.port);
  CHECK(taken->bound.is_loopback);
  CHECK((::fcntl(taken->socket.get(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK((::fcntl(taken->socket.get(), F_GETFL) & O_NONBLOCK) != 0);
  const auto open = listen_tcp(*parse_address("0.0.0.0:0"), "ssh");
  REQUIRE(open);
  CHECK_FALSE(adopt_listener(duplicate(open->socket), "ssh")->bound.is_loopback);
}

TEST_CASE("anything but a listening TCP socket is refused, and the message says what is wrong") {
  CHECK(refusal(make_socket(AF_INET, SOCK_STREAM)).find("does not listen") != std::string::npos);
  CHECK(refusal(make_socket(AF_INET, SOCK_DGRAM)).find("not a TCP socket") != std::string::npos);
  CHECK(refusal(make_socket(AF_UNIX, SOCK_STREAM)).find("not a TCP socket") != std::string::npos);
  CHECK(refusal(Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC))).find("not a TCP socket") != std::string::npos);
  CHECK(refusal(Fd(::fcntl(0, F_DUPFD_CLOEXEC, 10))).find("not a TCP socket") != std::string::npos);
}
