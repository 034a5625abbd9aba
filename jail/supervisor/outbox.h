// Outbox: messages on their way to one SEQPACKET socket whose reader may be slow. Sent at once where the kernel
// takes them; else kept, in order, up to a bound, and sent on when the socket is writable again.
// The socket is not owned, non-blocking, and watched by its owner, who calls flush() on EPOLLOUT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "jail/expected.h"
#include "jail/os/event_loop.h"
#include "jail/os/fd.h"

namespace mayfly {

class Outbox {
 public:
  Outbox() = default;
  Outbox(EventLoop& loop, int socket, std::size_t most_bytes)
      : loop_(&loop), socket_(socket), most_bytes_(most_bytes) {}

  // `fds` travel with the message; those that are ours to give away come in `given` and are closed once sent.
  // Borrowed ones must stay open until then, or be withdrawn by `tag`.
  // Fails with ENOBUFS when the reader is too far behind, else with what the kernel said (EPIPE: it is gone).
  Expected<void> send(std::span<const std::byte> bytes, std::span<const int> fds, std::vector<Fd> given,
                      std::uint64_t tag = 0);
  Expected<void> flush();
  bool withdraw(std::uint64_t tag);  // true: a message with this tag was waiting and will never be sent
  [[nodiscard]] bool empty() const { return waiting_.empty(); }

 private:
  struct Parcel {
    std::vector<std::byte> bytes;
    std::vector<int> fds;
    std::vector<Fd> given;
    std::uint64_t tag = 0;
  };
  EventLoop* loop_ = nullptr;
  int socket_ = -1;
  std::size_t most_bytes_ = 0;
  std::size_t held_bytes_ = 0;
  std::deque<Parcel> waiting_;
};

}  // namespace mayfly
