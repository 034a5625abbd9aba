#include "jail/witness/fixed_message.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace mayfly {
namespace {

// Takes ownership of all descriptors of a message. False: control data that is not ours.
bool take_fds(msghdr& header, FdList& list) {
  bool clean = (header.msg_flags & MSG_CTRUNC) == 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
      clean = false;
      continue;
    }
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + i * sizeof(int), sizeof number);
      Fd fd{number};
      if (list.count == list.fds.size()) {
        clean = false;
        continue;
      }
      list.fds[list.count++] = std::move(fd);
    }
  }
  return clean;
}

void drop_all(FdList& list) {
  for (Fd& fd : list.fds) fd.reset();
  list.count = 0;
}

}  // namespace

Arrival receive_fixed(int socket, void* into, std::size_t size, FdList& fds) {
  drop_all(fds);
  iovec bytes{into, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxFrameFds)];
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(socket, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return errno == EAGAIN || errno == EINTR ? Arrival::Nothing : Arrival::Closed;
  const bool clean = take_fds(header, fds);
  if (got == 0 && fds.count == 0 && clean) return Arrival::Closed;
  if (clean && static_cast<std::size_t>(got) == size && (header.msg_flags & MSG_TRUNC) == 0) return Arrival::Message;
  drop_all(fds);
  return Arrival::Refused;
}

int send_fixed(int socket, const void* bytes, std::size_t size) {
  return ::send(socket, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
}

}  // namespace mayfly
