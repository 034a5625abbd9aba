// Nsids: the kernel's names for network namespaces, and how we learn that one is free: RTM_DELNSID on RTNLGRP_NSID
// (rtnetlink(7); linux/net_namespace.h). Every network namespace of a jail gets one when it is made.
// Owner: builder. Side: outside. Where netlink refuses, is_available() is false: nothing is ever called released.
#pragma once

#include <array>
#include <cstdint>

#include "jail/expected.h"
#include "jail/os/fd.h"
#include "jail/spec/limits.h"

namespace mayfly {

class Nsids {
 public:
  static constexpr std::uint32_t kNone = ~0u;

  static Nsids open();  // in the builder's own network namespace

  [[nodiscard]] bool is_available() const { return static_cast<bool>(events_); }
  [[nodiscard]] int events() const { return events_.get(); }  // readable: call take_released until it has none

  // Names the namespace behind `network_fd`; kNone and errno when the kernel or our table refuses.
  std::uint32_t assign(int network_fd);
  // From now on the release of `nsid` is that of `slot`.
  void belongs_to(std::uint32_t nsid, std::uint32_t slot);
  // Its end is not told: there is no jail in that slot.
  void belongs_to_nobody(std::uint32_t nsid);

  // How many jails are not released yet.
  [[nodiscard]] std::uint32_t jails() const { return jails_; }

  // The slot of one released namespace, or kNone when there is no more to read.
  std::uint32_t take_released();

 private:
  // One per slot, one per part made ahead, and room for those that wait for the kernel.
  static constexpr std::uint32_t kMost = 2 * kSlotsPerInstance;
  enum class Use : std::uint8_t { Free, Ahead, Jail };
  struct Entry {
    Use use = Use::Free;
    std::uint16_t slot = 0;
  };

  std::uint32_t free_entry();
  int ask(std::uint16_t type, std::uint32_t nsid, int network_fd);  // 0 or errno
  std::uint32_t take_missed();
  std::uint32_t next_message();
  std::uint32_t release(std::uint32_t nsid);

  Fd requests_, events_;
  std::array<Entry, kMost> entries_{};
  std::uint32_t next_ = 0;
  std::uint32_t jails_ = 0;        // entries in use by one
  std::uint32_t recheck_ = kMost;  // < kMost: an overrun lost messages, entries from here on are asked for one by one
  std::uint32_t serial_ = 0;
  alignas(8) std::array<char, 8192> buffer_{};
  std::uint32_t filled_ = 0, read_ = 0;
};

}  // namespace mayfly
