// Listening sockets of the service. The keeper makes them once; they outlive every process that uses them.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "jail/cli/paths.h"
#include "jail/expected.h"
#include "jail/os/fd.h"

namespace mayfly {

struct TcpAddress {
  sockaddr_storage address{};
  socklen_t length = 0;
  std::uint16_t port = 0;
  bool is_loopback = false;
  std::string text;  // "127.0.0.1:2222", "[::1]:2222"
};

// "127.0.0.1:2222", "[::1]:2222", "localhost:2222" (127.0.0.1), "*:2222" (every address of the host). Numbers only:
// nothing is looked up. Port 0: any free one.
Expected<TcpAddress> parse_address(const std::string& text);

struct TcpListener {
  Fd socket;
  TcpAddress bound;  // with the port that it really has
};
// A busy port names the address and, where /proc tells, its holder. `what`: "ssh" or "http", for messages.
Expected<TcpListener> listen_tcp(const TcpAddress& address, const std::string& what);

// getsockname(2), with everything that TcpAddress says.
Expected<TcpAddress> bound_address(const Fd& socket, const std::string& what);

// The two Unix sockets of an engine (unix(7)).
struct UnixListeners {
  Fd lease, monitor;
  std::string lease_path;         // where front ends connect: below a directory that their uids can search
  std::vector<std::string> made;  // to be unlinked at the end
};
Expected<UnixListeners> listen_unix(const Paths& paths, Privilege privilege, const std::string& instance);

// Who listens on this TCP port: "pid 4711 (nginx)", or "" when /proc does not tell (port_holder.cpp).
std::string port_holder(const TcpAddress& address);

}  // namespace mayfly
