// UidBlock: the range of host uids that one engine may give to its jails. Root only.
//
// One host-wide file, one byte per block; a block is taken by an open-file-description lock on its byte
// (fcntl(2), F_OFD_SETLK). Such a lock belongs to the open file, not to a process: the supervisor and every relay
// hold a copy of the descriptor, so a block is free again only when the last of them is gone, whoever died first.
#pragma once

#include <cstdint>
#include <string>

#include "jail/expected.h"
#include "jail/os/fd.h"
#include "jail/spec/limits.h"

namespace mayfly {

class UidBlock {
 public:
  static constexpr std::uint32_t kUids = kSlotsPerInstance * kUidsPerSlot;
  static constexpr std::uint32_t kBlocks = 1024;  // 1024 engines at once; ends at uid 1 916 777 216, below 2^31

  static Expected<UidBlock> take(const std::string& table_path);

  [[nodiscard]] std::uint32_t base() const { return kUidBase + number_ * kUids; }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] const Fd& lock() const { return lock_; }

 private:
  UidBlock(std::uint32_t number, Fd lock) : number_(number), lock_(std::move(lock)) {}
  std::uint32_t number_;
  Fd lock_;
};

static_assert(std::uint64_t{kUidBase} + std::uint64_t{UidBlock::kBlocks} * UidBlock::kUids < 1ull << 31);

}  // namespace mayfly
