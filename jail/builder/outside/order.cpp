#include "jail/builder/outside/order.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "jail/builder/outside/judge.h"

namespace mayfly {

namespace {

constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

void take_fds(const msghdr& header, Order& order) {
  for (const cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr;
       part = CMSG_NXTHDR(const_cast<msghdr*>(&header), const_cast<cmsghdr*>(part))) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count && order.fd_count < order.fds.size(); ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      order.fds[order.fd_count++] = Fd(fd);
    }
  }
}

void read_message(std::span<const std::byte> message, Order& order) {
  Prepare prepare;
  order.is_prepare = message.size() == sizeof prepare && order.fd_count == 0 &&
                     std::memcmp(message.data(), &prepare, sizeof prepare) == 0;
  order.plan.slot = kSlotsPerInstance;  // of no jail, unless the plan says so
  order.has_plan = unpack_plan(message, order.plan);
}

}  // namespace

void Order::close_all() {
  for (Fd& fd : fds) fd.reset();
  fd_count = 0;
}

Receipt receive_order(int control, Order& order) {
  order.close_all();
  static std::array<std::byte, sizeof(Plan)> message;
  iovec body{message.data(), message.size()};
  alignas(cmsghdr) char control_data[CMSG_SPACE(Order::kMostFds * sizeof(int))];
  msghdr header{};
  header.msg_iov = &body;
  header.msg_iovlen = 1;
  header.msg_control = control_data;
  header.msg_controllen = sizeof control_data;
  ssize_t count = -1;
  do count = ::recvmsg(control, &header, MSG_CMSG_CLOEXEC);
  while (count < 0 && errno == EINTR);
  if (count < 0) {
    read_message({}, order);
    return Receipt::Broken;
  }
  take_fds(header, order);
  if (count == 0 && order.fd_count == 0) return Receipt::Closed;
  read_message(std::span(message).first(static_cast<std::size_t>(count)), order);
  return (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ? Receipt::Broken : Receipt::Received;
}

int judge_order(const Order& order, std::uint32_t row_count) {
  if (!order.has_plan) return EPROTO;
  PlanFacts facts;
  facts.descriptor_count = order.fd_count;
  facts.row_count = row_count;
  if (order.plan.has_payload == 1 && order.fd_count > 2) {
    struct stat status {};
    const int payload = order.payload();
    const int seals = ::fcntl(payload, F_GET_SEALS);
    facts.payload_sealed = seals >= 0 && (seals & kSeals) == kSeals && ::fstat(payload, &status) == 0;
    if (facts.payload_sealed) facts.payload_size = static_cast<std::uint64_t>(status.st_size);
  }
  return judge(order.plan, facts);
}

}  // namespace mayfly
