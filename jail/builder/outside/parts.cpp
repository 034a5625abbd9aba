#include "jail/builder/outside/parts.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace mayfly {

namespace {

constexpr std::size_t kMostFds = 4;  // network namespace, tree, context, ruleset

struct Parked {
  std::uint32_t nsid = 0;
  std::uint8_t is_furnished = 0;
};

}  // namespace

int PartsAhead::open() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) return errno;
  in_ = Fd(ends[0]);
  out_ = Fd(ends[1]);
  return 0;
}

bool PartsAhead::add(Parts parts) {
  if (!parts.is_complete() || is_full()) return false;
  if (at_hand_count_ < kAtHand) {
    at_hand_[at_hand_count_++] = std::move(parts);
    return true;
  }
  return park(parts);
}

Parts PartsAhead::take() {
  if (at_hand_count_ > 0) return std::move(at_hand_[--at_hand_count_]);
  if (parked_count_ > 0) return unpark();
  return {};
}

bool PartsAhead::park(const Parts& parts) {
  std::array<int, kMostFds> fds{parts.network.network.get(), parts.root.tree.get(), parts.root.context.get(),
                                parts.root.ruleset.get()};
  const std::size_t count = parts.root.ruleset ? kMostFds : kMostFds - 1;
  Parked parked{parts.network.nsid, parts.network.is_furnished ? std::uint8_t{1} : std::uint8_t{0}};
  iovec body{&parked, sizeof parked};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)] = {};
  msghdr header{};
  header.msg_iov = &body;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = CMSG_SPACE(count * sizeof(int));
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(count * sizeof(int));
  std::memcpy(CMSG_DATA(rights), fds.data(), count * sizeof(int));
  if (::sendmsg(in_.get(), &header, MSG_NOSIGNAL) != sizeof parked) return false;
  ++parked_count_;
  return true;
}

Parts PartsAhead::unpark() {
  --parked_count_;
  Parked parked;
  iovec body{&parked, sizeof parked};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostFds * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &body;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  if (::recvmsg(out_.get(), &header, MSG_CMSG_CLOEXEC) != sizeof parked) return {};
  std::array<Fd, kMostFds> fds;
  const cmsghdr* rights = CMSG_FIRSTHDR(&header);
  const std::size_t count = rights != nullptr ? (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
  for (std::size_t i = 0; i < count && i < kMostFds; ++i) {
    int number = -1;
    std::memcpy(&number, CMSG_DATA(rights) + i * sizeof number, sizeof number);
    fds[i] = Fd(number);
  }
  // Our table was full: what came through is closed, and the jail gets parts of its own.
  if ((header.msg_flags & MSG_CTRUNC) != 0 || count < kMostFds - 1) return {};
  Parts parts;
  parts.network.network = std::move(fds[0]);
  parts.network.nsid = parked.nsid;
  parts.network.is_furnished = parked.is_furnished != 0;
  parts.root.tree = std::move(fds[1]);
  parts.root.context = std::move(fds[2]);
  parts.root.ruleset = std::move(fds[3]);
  return parts;
}

}  // namespace mayfly
