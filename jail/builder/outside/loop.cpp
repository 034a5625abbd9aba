#include "jail/builder/outside/loop.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace mayfly {

namespace {

// 0 or errno.
int send_reply(int control, const BuilderReply& reply, int pidfd) {
  iovec body{const_cast<BuilderReply*>(&reply), sizeof reply};
  alignas(cmsghdr) char rights_data[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &body;
  header.msg_iovlen = 1;
  if (pidfd >= 0) {
    header.msg_control = rights_data;
    header.msg_controllen = sizeof rights_data;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &pidfd, sizeof pidfd);
  }
  // A supervisor that is gone shows as a closed socket in the next turn.
  ssize_t sent = -1;
  do sent = ::sendmsg(control, &header, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent < 0 ? errno : 0;
}

BuilderReply reply_to(const Order& order, StepClock& steps, int error, const Cloned& cloned) {
  const Step last = steps.current();
  steps.enter(Step::None);  // ends the time of the last one
  BuilderReply reply;
  reply.says = error == 0 ? BuilderSays::Cloned : BuilderSays::Failed;
  reply.slot = order.plan.slot;
  reply.pid = cloned.pid;
  reply.step = error == 0 ? 0 : static_cast<std::uint32_t>(last);
  reply.error = error;
  reply.parts_made_ahead = cloned.parts_made_ahead ? 1 : 0;
  for (std::size_t i = 0; i < kOutsideSteps.size(); ++i) reply.outside_us[i] = steps.spent_us(kOutsideSteps[i]);
  return reply;
}

class Loop {
 public:
  Loop(Workshop& shop, const LoopDescriptors& with, MakeAhead make_ahead)
      : shop_(shop), with_(with), refilling_(make_ahead == MakeAhead::Yes), make_ahead_(make_ahead) {}

  void run() {
    greet();
    while (turn()) {
    }
  }

 private:
  void greet() {
    BuilderReply ready;
    ready.says = BuilderSays::Ready;
    ready.proc_available = shop_.host.proc_available ? 1 : 0;
    ready.landlock_abi = shop_.host.landlock_abi;
    ready.proc_masks = shop_.host.proc_available ? shop_.host.mask_count : 0;
    ready.namespaces = shop_.host.namespaces;
    send_reply(with_.control, ready, -1);
  }

  [[nodiscard]] int patience() const {
    if (!refilling_ || shop_.parts.is_full()) return -1;
    return static_cast<int>(kIdleBeforeRefill.count());
  }

  bool turn() {
    pollfd waited[3] = {{with_.control, POLLIN, 0}, {with_.keeper, POLLIN, 0}, {shop_.nsids.events(), POLLIN, 0}};
    const int ready = ::poll(waited, 3, patience());
    if (ready < 0) return errno == EINTR;
    if (waited[1].revents != 0) return false;
    if (waited[0].revents != 0) return serve_one();
    if (waited[2].revents != 0)
      tell_released();
    else
      refill();
    return true;
  }

  // Between two parts we look for orders without waiting: a pair is more than half a millisecond.
  void refill() {
    pollfd order{with_.control, POLLIN, 0};
    while (refilling_ && !shop_.parts.is_full() && ::poll(&order, 1, 0) == 0) {
      Parts parts;
      if (make_parts(shop_, Furnish::Now, parts) != 0) {
        refilling_ = false;  // the host has none left at the moment: try again after the next order
        return;
      }
      shop_.parts.add(std::move(parts));
    }
  }

  void tell_released() {
    for (std::uint32_t i = 0; i < kSlotsPerInstance; ++i) {
      const std::uint32_t slot = shop_.nsids.take_released();
      if (slot == Nsids::kNone) return;
      BuilderReply released;
      released.says = BuilderSays::Released;
      released.slot = slot;
      send_reply(with_.control, released, -1);
    }
  }

  bool serve_one() {
    switch (receive_order(with_.control, order_)) {
      case Receipt::Closed:
        return false;
      case Receipt::Broken:
        refuse(EPROTO);
        break;
      case Receipt::Received:
        if (order_.is_prepare)
          prepare(shop_);
        else
          build();
        break;
    }
    order_.close_all();
    refilling_ = make_ahead_ == MakeAhead::Yes;
    return true;
  }

  void refuse(int error) {
    BuilderReply reply;
    reply.slot = order_.plan.slot;
    reply.error = error;
    send_reply(with_.control, reply, -1);
  }

  void build() {
    if (const int error = judge_order(order_, shop_.host.row_count); error != 0) return refuse(error);
    StepClock steps;
    Cloned cloned;
    const int error = clone_jail(shop_, order_, steps, cloned);
    if (error != 0) cloned = Cloned{};
    const int unsent = send_reply(with_.control, reply_to(order_, steps, error, cloned), cloned.pidfd.get());
    if (unsent == 0 || error != 0) return;
    // Its pidfd did not go through (ETOOMANYREFS: as an ordinary user all of a host's descriptors in flight are
    // counted together, unix(7)). A jail that nobody can end must not be.
    destroy(cloned);
    shop_.nsids.belongs_to_nobody(cloned.nsid);
    refuse(unsent);
  }

  Workshop& shop_;
  LoopDescriptors with_;
  bool refilling_;
  MakeAhead make_ahead_;
  Order order_{};
};

}  // namespace

void serve_orders(Workshop& shop, const LoopDescriptors& with, MakeAhead make_ahead) {
  Loop(shop, with, make_ahead).run();
}

}  // namespace mayfly
