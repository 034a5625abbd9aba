// Peer: who is at the other end of a TCP connection, as far as its address tells.
// An IPv4 address that came in as IPv6 (::ffff:192.0.2.1) is shown and counted as the IPv4 address that it is.
#pragma once

#include <sys/socket.h>

#include <string>

#include "jail/expected.h"

namespace mayfly {

struct Peer {
  std::string text;    // "192.0.2.1:50422", "[2001:db8::1]:50422": shown, never parsed
  std::string host;    // the address alone: "192.0.2.1", "2001:db8::1"
  std::string source;  // what limits count by: "192.0.2.1", and for IPv6 the /64: "2001:db8::/64"
  bool loopback = false;
};

// Fails for anything but IPv4 and IPv6.
Expected<Peer> describe(const sockaddr_storage& address);
Expected<Peer> peer_of(int socket);   // getpeername(2)
Expected<Peer> bound_to(int socket);  // getsockname(2): loopback = strangers cannot reach it

}  // namespace mayfly
