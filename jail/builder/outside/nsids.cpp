#include "jail/builder/outside/nsids.h"

#include <linux/net_namespace.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace mayfly {

namespace {

Fd open_netlink(unsigned groups_of_nsid) {
  Fd socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!socket) return Fd();
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = groups_of_nsid;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return Fd();
  return socket;
}

struct NsidRequest {
  nlmsghdr header;
  rtgenmsg family;
  char padding[3];
  nlattr id_header;
  std::int32_t id;
  nlattr fd_header;
  std::int32_t fd;
};
static_assert(sizeof(NsidRequest) == 36);

}  // namespace

Nsids Nsids::open() {
  Nsids made;
  made.requests_ = open_netlink(0);
  made.events_ = open_netlink(1u << (RTNLGRP_NSID - 1));
  if (!made.requests_) made.events_.reset();
  // A burst of endings between two turns of the loop must fit; the overrun is handled, but costs a look at every entry.
  const int size = 1 << 20;
  if (::setsockopt(made.events_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0)
    ::setsockopt(made.events_.get(), SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  return made;
}

int Nsids::ask(std::uint16_t type, std::uint32_t nsid, int network_fd) {
  NsidRequest request{};
  const bool with_fd = network_fd >= 0;
  request.header.nlmsg_len = static_cast<std::uint32_t>(with_fd ? sizeof request : sizeof request - 8);
  request.header.nlmsg_type = type;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  request.header.nlmsg_seq = ++serial_;
  request.id_header = {8, NETNSA_NSID};
  request.id = static_cast<std::int32_t>(nsid);
  request.fd_header = {8, NETNSA_FD};
  request.fd = network_fd;
  if (::send(requests_.get(), &request, request.header.nlmsg_len, 0) < 0) return errno;
  alignas(8) char reply[512];
  for (int i = 0; i < 4; ++i) {  // an answer and its acknowledgement, or an error
    const ssize_t count = ::recv(requests_.get(), reply, sizeof reply, 0);
    if (count < static_cast<ssize_t>(sizeof(nlmsghdr))) return count < 0 ? errno : EBADMSG;
    const auto* header = reinterpret_cast<const nlmsghdr*>(reply);
    if (header->nlmsg_type != NLMSG_ERROR || header->nlmsg_seq != serial_) continue;
    return -reinterpret_cast<const nlmsgerr*>(NLMSG_DATA(header))->error;
  }
  return EBADMSG;
}

std::uint32_t Nsids::free_entry() {
  for (std::uint32_t i = 0; i < kMost; ++i) {
    const std::uint32_t candidate = (next_ + i) % kMost;
    if (entries_[candidate].use == Use::Free) {
      next_ = candidate + 1;
      return candidate;
    }
  }
  return kNone;
}

std::uint32_t Nsids::assign(int network_fd) {
  if (!is_available()) return kNone;
  const std::uint32_t nsid = free_entry();
  if (nsid == kNone) return kNone;
  if (const int error = ask(RTM_NEWNSID, nsid, network_fd); error != 0) {
    errno = error;
    return kNone;
  }
  entries_[nsid].use = Use::Ahead;
  return nsid;
}

void Nsids::belongs_to(std::uint32_t nsid, std::uint32_t slot) {
  if (nsid >= kMost) return;
  entries_[nsid] = {Use::Jail, static_cast<std::uint16_t>(slot)};
  ++jails_;
}

void Nsids::belongs_to_nobody(std::uint32_t nsid) {
  if (nsid >= kMost || entries_[nsid].use != Use::Jail) return;
  entries_[nsid] = {Use::Ahead, 0};
  --jails_;
}

std::uint32_t Nsids::release(std::uint32_t nsid) {
  if (nsid >= kMost || entries_[nsid].use == Use::Free) return kNone;
  const Entry was = entries_[nsid];
  entries_[nsid] = {};
  if (was.use != Use::Jail) return kNone;
  --jails_;
  return was.slot;
}

// After an overrun: asks the kernel for each outstanding name. ENOENT: gone.
std::uint32_t Nsids::take_missed() {
  while (recheck_ < kMost) {
    const std::uint32_t nsid = recheck_++;
    if (entries_[nsid].use == Use::Free) continue;
    if (ask(RTM_GETNSID, nsid, -1) != ENOENT) continue;
    if (const std::uint32_t slot = release(nsid); slot != kNone) return slot;
  }
  return kNone;
}

// The nsid of the next RTM_DELNSID in the buffer, or kNone at its end.
std::uint32_t Nsids::next_message() {
  while (read_ + sizeof(nlmsghdr) <= filled_) {
    const auto* header = reinterpret_cast<const nlmsghdr*>(buffer_.data() + read_);
    if (header->nlmsg_len < sizeof(nlmsghdr) || header->nlmsg_len > filled_ - read_) break;
    const auto* attribute = reinterpret_cast<const nlattr*>(buffer_.data() + read_ + NLMSG_LENGTH(NLMSG_ALIGN(1)));
    const bool holds_id = header->nlmsg_len >= NLMSG_LENGTH(NLMSG_ALIGN(1)) + 8 && attribute->nla_type == NETNSA_NSID;
    read_ += NLMSG_ALIGN(header->nlmsg_len);
    if (header->nlmsg_type != RTM_DELNSID || !holds_id) continue;
    std::int32_t nsid = -1;
    std::memcpy(&nsid, attribute + 1, sizeof nsid);
    if (nsid >= 0) return static_cast<std::uint32_t>(nsid);
  }
  read_ = filled_ = 0;
  return kNone;
}

std::uint32_t Nsids::take_released() {
  for (std::uint32_t turn = 0; turn < 4 * kMost; ++turn) {
    if (const std::uint32_t missed = take_missed(); missed != kNone) return missed;
    const std::uint32_t nsid = next_message();
    if (nsid != kNone) {
      if (const std::uint32_t slot = release(nsid); slot != kNone) return slot;
      continue;
    }
    const ssize_t count = ::recv(events_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (count < 0 && errno == ENOBUFS) {
      recheck_ = 0;
      continue;
    }
    if (count <= 0) return kNone;
    filled_ = static_cast<std::uint32_t>(count);
  }
  return kNone;
}

}  // namespace mayfly
