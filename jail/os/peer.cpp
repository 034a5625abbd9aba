#include "jail/os/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace mayfly {

namespace {

constexpr std::uint32_t kLoopbackNet = 127;

Peer describe_v4(const in_addr& address, in_port_t port) {
  std::array<char, INET_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET, &address, text.data(), text.size());
  const std::string host = text.data();
  return Peer{host + ":" + std::to_string(ntohs(port)), host, host, ntohl(address.s_addr) >> 24 == kLoopbackNet};
}

Peer describe_v6(const sockaddr_in6& address) {
  if (IN6_IS_ADDR_V4MAPPED(&address.sin6_addr)) {
    in_addr mapped{};
    std::memcpy(&mapped, address.sin6_addr.s6_addr + 12, sizeof mapped);
    return describe_v4(mapped, address.sin6_port);
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, &address.sin6_addr, text.data(), text.size());
  const std::string host = text.data();
  in6_addr net = address.sin6_addr;
  std::memset(net.s6_addr + 8, 0, 8);  // a /64 is one customer
  ::inet_ntop(AF_INET6, &net, text.data(), text.size());
  const bool loopback = IN6_IS_ADDR_LOOPBACK(&address.sin6_addr);
  return Peer{"[" + host + "]:" + std::to_string(ntohs(address.sin6_port)), host,
              loopback ? host : std::string(text.data()) + "/64", loopback};
}

}  // namespace

Expected<Peer> describe(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, &address, sizeof v4);
    return describe_v4(v4.sin_addr, v4.sin_port);
  }
  if (address.ss_family == AF_INET6) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &address, sizeof v6);
    return describe_v6(v6);
  }
  return failure("describe peer", EAFNOSUPPORT);
}

namespace {

Expected<Peer> end_of(int socket, int (*ask)(int, sockaddr*, socklen_t*), const char* doing) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (ask(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) return failure(doing, errno);
  return describe(address);
}

}  // namespace

Expected<Peer> peer_of(int socket) { return end_of(socket, ::getpeername, "ask for peer address"); }

Expected<Peer> bound_to(int socket) { return end_of(socket, ::getsockname, "ask for own address"); }

}  // namespace mayfly
