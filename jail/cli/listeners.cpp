#include "jail/cli/listeners.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <fstream>

#include "jail/os/unix_socket.h"
#include "jail/spec/escape.h"
#include "jail/spec/limits.h"

namespace mayfly {

namespace {

constexpr int kBacklog = 512;  // a class that logs in at once; the kernel caps it at somaxconn

auto bad_address(const std::string& text) {
  return failure("read address", 0, "\"" + escape(text, 80) + "\"", "write it like 127.0.0.1:2222 or [::1]:2222");
}

bool is_loopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET)
    return (ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24) == 127;
  return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
}

std::string text_of(const sockaddr_storage& address) {
  char host[INET6_ADDRSTRLEN] = {};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, host, sizeof host);
    return std::string(host) + ":" + std::to_string(ntohs(v4.sin_port));
  }
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  ::inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof host);
  return "[" + std::string(host) + "]:" + std::to_string(ntohs(v6.sin6_port));
}

bool fill(TcpAddress& address, std::string host) {
  if (host == "localhost") host = "127.0.0.1";
  if (host == "*") host = "::";
  if (auto& v4 = reinterpret_cast<sockaddr_in&>(address.address);
      ::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(address.port);
    address.length = sizeof v4;
    return true;
  }
  address.address = {};
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address.address);
  if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) != 1) return false;
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(address.port);
  address.length = sizeof v6;
  return true;
}

Expected<void> bind_and_listen(const Fd& socket, const TcpAddress& address, const std::string& what) {
  const int on = 1;
  // A restart must not wait for the old connections to leave TIME_WAIT (tcp(7)).
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.address), address.length) == 0 &&
      ::listen(socket.get(), kBacklog) == 0)
    return {};
  const int error = errno;
  if (error != EADDRINUSE) return failure("listen for " + what + " on", error, address.text);
  const std::string holder = port_holder(address);
  return failure("listen for " + what + " on", 0, address.text,
                 "the port is in use by " + (holder.empty() ? "another program" : holder) +
                     "; stop that, or choose another address with --" + what);
}

// Where a group of watchers or operators exists anybody may connect, and the supervisor judges who it is: it reads the
// same file (group(5)).
unsigned monitor_mode() {
  std::ifstream groups("/etc/group");
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("mayfly-watch:") || line.starts_with("mayfly-ops:")) return 0666;
  return 0600;
}

}  // namespace

Expected<TcpAddress> parse_address(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return bad_address(text);
  TcpAddress address;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data() + colon + 1, end, address.port);
  if (error != std::errc() || stopped != end || colon + 1 == text.size()) return bad_address(text);
  if (!fill(address, text.substr(0, colon))) return bad_address(text);
  address.is_loopback = is_loopback(address.address);
  address.text = text_of(address.address);
  return address;
}

Expected<TcpListener> listen_tcp(const TcpAddress& address, const std::string& what) {
  TcpListener listener{Fd(::socket(address.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)), address};
  if (!listener.socket) return failure("make a socket for " + what, errno);
  TRY(bind_and_listen(listener.socket, address, what));
  listener.bound = TRY(bound_address(listener.socket, what));
  return listener;
}

Expected<TcpAddress> bound_address(const Fd& socket, const std::string& what) {
  TcpAddress bound;
  bound.length = sizeof bound.address;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound.address), &bound.length) != 0)
    return failure("ask for the address of " + what, errno);
  bound.is_loopback = is_loopback(bound.address);
  bound.text = text_of(bound.address);
  bound.port = ntohs(bound.address.ss_family == AF_INET ? reinterpret_cast<sockaddr_in&>(bound.address).sin_port
                                                        : reinterpret_cast<sockaddr_in6&>(bound.address).sin6_port);
  return bound;
}

Expected<UnixListeners> listen_unix(const Paths& paths, Privilege privilege, const std::string& instance) {
  UnixListeners sockets;
  const std::string lease = paths.run + "/lease.sock", monitor = paths.run + "/monitor.sock";
  sockets.lease_path = lease;
  // A named state directory may lie where the front ends' uids cannot go: the socket is then beside the locks, and
  // the usual name is a link to it.
  const bool apart = privilege == Privilege::Root && paths.state_was_named;
  if (apart) sockets.lease_path = paths.runtime + "/instances/" + instance + ".lease.sock";
  sockets.lease = TRY(listen_at(sockets.lease_path, 0600));
  sockets.made.push_back(sockets.lease_path);
  if (privilege == Privilege::Root) {
    // Child runs front ends with the gid that is their uid.
    if (::chown(sockets.lease_path.c_str(), kSshdUid, kApiUid) != 0 || ::chmod(sockets.lease_path.c_str(), 0660) != 0)
      return failure("hand over the lease socket", errno, sockets.lease_path);
  }
  if (apart) {
    ::unlink(lease.c_str());
    if (::symlink(sockets.lease_path.c_str(), lease.c_str()) != 0)
      return failure("link the lease socket", errno, lease);
    sockets.made.push_back(lease);
  }
  sockets.monitor = TRY(listen_at(monitor, monitor_mode()));
  sockets.made.push_back(monitor);
  return sockets;
}

}  // namespace mayfly
