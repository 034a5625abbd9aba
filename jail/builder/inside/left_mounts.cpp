#include "jail/builder/inside/left_mounts.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

namespace mayfly {

LeftMounts::LeftMounts(const Inside& in) {
  if (!in.leaves_mounts) return;
  int ends[2];
  const Fd mounts(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
  if (!mounts || ::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  speaking_ = Fd(ends[0]);
  listening_ = Fd(ends[1]);
  const std::array ring = {mounts.get(), listening_.get()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof ring)] = {};
  char byte = 0;
  iovec body{&byte, 1};
  msghdr header{};
  header.msg_iov = &body;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof ring);
  std::memcpy(CMSG_DATA(rights), ring.data(), sizeof ring);
  if (::sendmsg(speaking_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT) != 1) take_back();
}

void LeftMounts::take_back() {
  listening_.reset();  // first: the ring has an end only when the other is closed
  speaking_.reset();
}

}  // namespace mayfly
