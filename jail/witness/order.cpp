#include "jail/witness/order.h"

#include <cstring>

namespace mayfly {
namespace {

bool is_flag(std::uint32_t value) { return value <= 1; }

bool flags_agree(const RelayOrder& order) {
  if (!is_flag(order.rootless) || !is_flag(order.terminal) || !is_flag(order.has_in) || !is_flag(order.has_err) ||
      !is_flag(order.last_line) || !is_flag(order.make_ahead)) {
    return false;
  }
  // A terminal has one output stream, pipes have two: nothing that a program writes is without a sink.
  return order.has_err == (order.terminal == 0 ? 1u : 0u) &&
         ::strnlen(order.jail, sizeof order.jail) < sizeof order.jail;
}

// As root every relay has two ids, neither of them root's nor "leave it" (setresuid(2)).
bool ids_agree(const RelayOrder& order) {
  constexpr std::uint32_t kLeave = 0xffff'ffff;
  if (order.rootless == 1) return true;
  return order.relay_uid != 0 && order.init_uid != 0 && order.relay_uid != kLeave && order.init_uid != kLeave &&
         order.relay_uid != order.init_uid;
}

// Far beyond any limit, and still far from where adding it to a clock in microseconds would overflow.
bool times_agree(const RelayOrder& order) {
  constexpr std::uint64_t kMost = 1ull << 40;
  return order.wall_ms < kMost && order.idle_ms < kMost;
}

}  // namespace

OrderVerdict judge(const RelayOrder& order, std::size_t descriptors) {
  if (order.magic != RelayOrder::kMagic) return OrderVerdict::BadMagic;
  if (!flags_agree(order)) return OrderVerdict::BadFlags;
  if (!ids_agree(order)) return OrderVerdict::BadIds;
  if (!times_agree(order)) return OrderVerdict::BadTimes;
  if (descriptors != 3 + order.has_err + order.has_in) return OrderVerdict::BadDescriptorCount;
  return OrderVerdict::Good;
}

RelayJob make_job(const RelayOrder& order, FdList& list) {
  RelayJob job{order, std::move(list.fds[0]), std::move(list.fds[1]), std::move(list.fds[2]), Fd{}, Fd{}};
  std::size_t next = 3;
  if (order.has_err == 1) job.err = std::move(list.fds[next++]);
  if (order.has_in == 1) job.in = std::move(list.fds[next]);
  list.count = 0;
  return job;
}

}  // namespace mayfly
