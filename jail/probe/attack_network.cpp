// Reaching anything outside: by a route, by the host's loopback, by a socket without a path.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "jail/probe/attack.h"

namespace mayfly::probe {
namespace {

int connect_to(int family, int type, const void* address, std::size_t size) {
  const int socket = ::socket(family, type | SOCK_CLOEXEC, 0);
  if (socket < 0) return errno;
  const int error =
      ::connect(socket, static_cast<const sockaddr*>(address), static_cast<socklen_t>(size)) == 0 ? 0 : errno;
  ::close(socket);
  return error;
}

// A datagram socket looks up its route when it is connected and sends nothing. 192.0.2.1 is nobody's (RFC 5737).
int network_out(const Targets&) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  ::inet_pton(AF_INET, "192.0.2.1", &address.sin_addr);
  return connect_to(AF_INET, SOCK_DGRAM, &address, sizeof address);
}

int network_out_ipv6(const Targets&) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(9);
  ::inet_pton(AF_INET6, "2001:db8::1", &address.sin6_addr);  // RFC 3849
  return connect_to(AF_INET6, SOCK_DGRAM, &address, sizeof address);
}

int host_loopback(const Targets& targets) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(targets.port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return connect_to(AF_INET, SOCK_STREAM, &address, sizeof address);
}

int host_abstract_socket(const Targets& targets) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::strlen(targets.abstract_name);
  if (length == 0 || length + 1 > sizeof address.sun_path) return EINVAL;
  std::memcpy(address.sun_path + 1, targets.abstract_name, length);
  return connect_to(AF_UNIX, SOCK_STREAM, &address, offsetof(sockaddr_un, sun_path) + 1 + length);
}

int packet_socket(const Targets&) {
  const int socket = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (socket < 0) return errno;
  ::close(socket);
  return 0;
}

constexpr Attack kAttacks[] = {
    {"network-out", network_out},     {"network-out-ipv6", network_out_ipv6},
    {"host-loopback", host_loopback}, {"host-abstract-socket", host_abstract_socket},
    {"packet-socket", packet_socket},
};

}  // namespace

AttackTable network_attacks() { return {kAttacks, sizeof kAttacks / sizeof *kAttacks}; }

}  // namespace mayfly::probe
