// Messages of one fixed size with descriptors, on SEQPACKET sockets. unix(7), cmsg(3). No heap: the relay's process is
// forked from a template that has none worth copying.
#pragma once

#include <array>
#include <cstddef>

#include "jail/os/fd.h"
#include "jail/spec/limits.h"

namespace mayfly {

// Descriptors of one message, in the order of the sender.
struct FdList {
  std::array<Fd, kMaxFrameFds> fds;
  std::size_t count = 0;
};

enum class Arrival {
  Message,  // exactly `size` bytes, and every descriptor that was sent
  Nothing,  // not now
  Closed,   // the other end is gone
  Refused,  // longer, shorter, more descriptors than a list holds, other control data: thrown away, descriptors closed
};

// Never waits.
Arrival receive_fixed(int socket, void* into, std::size_t size, FdList& fds);

// Never waits. 0, or errno: EAGAIN when the receiver does not take it now.
int send_fixed(int socket, const void* bytes, std::size_t size);

}  // namespace mayfly
