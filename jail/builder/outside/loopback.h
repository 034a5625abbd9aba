// Brings `lo` up in the network namespace of the calling thread (netdevice(7)). Needs CAP_NET_ADMIN over it.
// Side: outside.
#pragma once

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mayfly {

// `socket`: any AF_INET socket of that namespace. 0 or an errno.
inline int raise_loopback(int socket) {
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", 3);
  request.ifr_flags = IFF_UP;
  return ::ioctl(socket, SIOCSIFFLAGS, &request) == 0 ? 0 : errno;
}

}  // namespace mayfly
