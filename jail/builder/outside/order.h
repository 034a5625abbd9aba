// Order: one message of the supervisor, with the descriptors that came with it. Owned until the jail is cloned; pid 1
// keeps its own copies. Side: outside.
#pragma once

#include <array>

#include "jail/os/fd.h"
#include "jail/wire/plan.h"

namespace mayfly {

struct Order {
  static constexpr std::size_t kMostFds = 2 + 1 + 6;

  Plan plan;
  bool has_plan = false;  // else of another size or release; `plan` has its head, if it was that long
  bool is_prepare = false;
  std::array<Fd, kMostFds> fds{};
  std::size_t fd_count = 0;

  // In the order of plan.h; valid once the plan has been judged.
  [[nodiscard]] int gate() const { return fds[0].get(); }
  [[nodiscard]] int stream() const { return fds[1].get(); }
  [[nodiscard]] int payload() const { return plan.has_payload != 0 ? fds[2].get() : -1; }
  [[nodiscard]] int cgroup(std::size_t i) const { return fds[2u + plan.has_payload + i].get(); }
  void close_all();
};

enum class Receipt { Received, Closed, Broken };

// One message. Broken: cut short, or with more descriptors than a plan has; its descriptors are closed.
Receipt receive_order(int control, Order& order);

// 0, or the errno for which the order is refused (judge.h).
int judge_order(const Order& order, std::uint32_t row_count);

}  // namespace mayfly
