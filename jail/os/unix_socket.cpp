#include "jail/os/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace mayfly {

namespace {

constexpr std::size_t kLargestMessage = 65'536;
constexpr std::size_t kMostFds = 32;  // more than any message of ours carries

Expected<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return failure("use socket path", ENAMETOOLONG, path, "at most 107 bytes; choose a shorter --state directory");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Expected<Fd> seqpacket_socket() {
  Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket) return failure("make unix socket", errno);
  return socket;
}

// Takes every descriptor out of the control data, so that none is lost whatever is wrong with the message.
void take_control(msghdr& header, Received& into) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET) continue;
    if (part->cmsg_type == SCM_RIGHTS) {
      const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int number = -1;
        std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof number);
        into.fds.emplace_back(number);
      }
    } else if (part->cmsg_type == SCM_CREDENTIALS) {
      ucred credentials{};
      std::memcpy(&credentials, CMSG_DATA(part), sizeof credentials);
      into.sender = credentials.pid;
    }
  }
}

}  // namespace

Expected<SocketPair> make_seqpacket_pair(Blocking blocking) {
  std::array<int, 2> ends{};
  const int flags = SOCK_SEQPACKET | SOCK_CLOEXEC | (blocking == Blocking::No ? SOCK_NONBLOCK : 0);
  if (::socketpair(AF_UNIX, flags, 0, ends.data()) != 0) return failure("make socket pair", errno);
  return SocketPair{Fd(ends[0]), Fd(ends[1])};
}

Expected<Fd> listen_at(const std::string& path, unsigned mode) {
  const sockaddr_un address = TRY(address_of(path));
  Fd socket = TRY(seqpacket_socket());
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failure("remove stale socket", errno, path);
  const mode_t before = ::umask(0777 & ~static_cast<mode_t>(mode));
  const int bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int bind_error = errno;
  ::umask(before);
  if (bound != 0) return failure("bind socket", bind_error, path);
  if (::listen(socket.get(), 128) != 0) return failure("listen on socket", errno, path);
  TRY(set_nonblocking(socket.get(), Blocking::No));
  return socket;
}

Expected<Fd> connect_to(const std::string& path) {
  const sockaddr_un address = TRY(address_of(path));
  Fd socket = TRY(seqpacket_socket());
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return failure("connect to socket", errno, path);
  return socket;
}

Expected<Fd> connect_at_once(const std::string& path) {
  const sockaddr_un address = TRY(address_of(path));
  Fd socket = TRY(seqpacket_socket());
  TRY(set_nonblocking(socket.get(), Blocking::No));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return failure("connect to socket", errno, path);
  TRY(set_nonblocking(socket.get(), Blocking::Yes));
  return socket;
}

Expected<Fd> accept_from(const Fd& listener) {
  Fd connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!connection) return failure("accept connection", errno);
  return connection;
}

Expected<PeerCredentials> peer_credentials(const Fd& socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0)
    return failure("read peer credentials", errno);
  return PeerCredentials{credentials.pid, credentials.uid, credentials.gid};
}

Expected<void> send_message(int socket, std::span<const std::byte> bytes, std::span<const int> fds) {
  if (fds.size() > kMostFds) return failure("send message", EINVAL, "", "too many descriptors");
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostFds * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
  }
  ssize_t sent = 0;
  do sent = ::sendmsg(socket, &header, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent < 0) return failure("send message", errno);
  return {};
}

Expected<Received> receive_message(int socket, std::size_t most_bytes, std::size_t most_fds) {
  // A vector of the greatest size would be cleared for every message.
  static thread_local std::array<std::byte, kLargestMessage> buffer;
  if (most_bytes > buffer.size()) return failure("receive message", EINVAL, "", "no message may be that large");
  Received received;
  iovec part{buffer.data(), most_bytes};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostFds * sizeof(int)) + CMSG_SPACE(sizeof(ucred))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t count = 0;
  do count = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  while (count < 0 && errno == EINTR);
  if (count < 0) return failure("receive message", errno);
  take_control(header, received);
  if ((header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || received.fds.size() > most_fds)
    return failure("receive message", EMSGSIZE, "", "longer, or with more descriptors, than this message may be");
  received.bytes.assign(buffer.begin(), buffer.begin() + count);
  received.closed = count == 0;
  return received;
}

Expected<void> set_pass_credentials(int socket) {
  const int on = 1;
  if (::setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) return failure("ask for sender's pid", errno);
  return {};
}

Expected<void> set_nonblocking(int fd, Blocking blocking) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return failure("read descriptor flags", errno);
  const int wanted = blocking == Blocking::No ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
  if (wanted != flags && ::fcntl(fd, F_SETFL, wanted) != 0) return failure("set descriptor flags", errno);
  return {};
}

}  // namespace mayfly
