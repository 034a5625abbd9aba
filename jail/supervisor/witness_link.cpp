#include "jail/supervisor/witness_link.h"

#include <sys/epoll.h>

#include <cerrno>

#include "jail/os/log.h"
#include "jail/supervisor/fixed_message.h"
#include "jail/supervisor/timers.h"

namespace mayfly {

Expected<void> WitnessLink::adopt(Fd socket) {
  TRY(set_nonblocking(socket.get(), Blocking::No));
  socket_ = TRY(Watched::make(loop_, std::move(socket), EPOLLIN, [this](std::uint32_t what) { on_event(what); }));
  orders_ = Outbox(loop_, socket_.get(), kMaxOrders);
  arrived_();
  return {};
}

Expected<void> WitnessLink::send(const RelayOrder& order, std::span<const int> fds, std::vector<Fd> given) {
  if (!socket_) return failure("send relay order", ENOTCONN, "witness template");
  Expected<void> sent = orders_.send(bytes_of(order), fds, std::move(given));
  if (!sent) lose("cannot send");
  return sent;
}

// The template says nothing, so that anything readable is its end, or nonsense.
void WitnessLink::on_event(std::uint32_t what) {
  if ((what & EPOLLOUT) != 0 && !orders_.flush()) return lose("cannot send");
  if ((what & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) lose("closed");
}

void WitnessLink::lose(const char* why) {
  log_line(Severity::Warning, "witness.gone", {{"why", why}}, "live jails go on; the keeper starts a new template");
  socket_.reset();
  orders_ = Outbox();
}

}  // namespace mayfly
