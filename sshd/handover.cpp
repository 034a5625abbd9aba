#include "sshd/handover.h"

#include <array>
#include <cerrno>

#include "jail/os/unix_socket.h"

namespace mayfly {

namespace {
constexpr std::byte kServe{'S'};  // a message of no byte could not be told from the end
}

Expected<void> hand_over(const Fd& to, SessionDescriptors& own) {
  const std::array fds{own.connection.get(), own.lease.get(), own.report.get()};
  TRY(send_message(to.get(), {&kServe, 1}, fds));
  own = SessionDescriptors();
  return {};
}

Expected<std::optional<SessionDescriptors>> take_over(const Fd& from) {
  Received received = TRY(receive_message(from.get(), 1, 3));
  if (received.closed) return std::nullopt;
  if (received.bytes.size() != 1 || received.bytes[0] != kServe || received.fds.size() != 3)
    return failure("take connection over", EPROTO);
  return SessionDescriptors{std::move(received.fds[0]), std::move(received.fds[1]), std::move(received.fds[2])};
}

}  // namespace mayfly
