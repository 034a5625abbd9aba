#include "jail/supervisor/builder_link.h"

#include <sys/epoll.h>

#include <cerrno>

#include "jail/os/log.h"
#include "jail/supervisor/fixed_message.h"
#include "jail/supervisor/timers.h"

namespace mayfly {

Expected<void> BuilderLink::adopt(Fd socket) {
  if (socket_) lose("replaced", 0);
  TRY(set_nonblocking(socket.get(), Blocking::No));
  socket_ = TRY(Watched::make(loop_, std::move(socket), EPOLLIN, [this](std::uint32_t what) { on_event(what); }));
  orders_ = Outbox(loop_, socket_.get(), kMaxOrders);
  has_parts_ = false;  // a new builder has none yet
  return {};
}

bool BuilderLink::prepare() {
  if (!ready_ || has_parts_ || !orders_.empty()) return false;
  return send_message(socket_.get(), bytes_of(Prepare{}), {}).has_value();
}

Expected<void> BuilderLink::send(const Plan& plan, std::span<const int> fds, std::vector<Fd> given) {
  if (!ready_) return failure("send plan", ENOTCONN, "builder");
  message_.resize(plan_size(plan));
  pack_plan(plan, message_.data());
  Expected<void> sent = orders_.send(message_, fds, std::move(given), plan.slot + 1ull);
  if (!sent) ready_ = false;  // its end of file is on the way; until then nobody else is sent into the void
  return sent;
}

void BuilderLink::on_event(std::uint32_t what) {
  if ((what & EPOLLOUT) != 0)
    if (const Expected<void> sent = orders_.flush(); !sent) return lose("send plan", sent.error().error);
  bool more = (what & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0;
  for (int i = 0; more && socket_ && i < kFramesPerTurn; ++i) take_one(more);
}

void BuilderLink::take_one(bool& more) {
  Expected<Received> received = receive_message(socket_.get(), sizeof(BuilderReply), 1);
  if (!received) {
    more = false;
    if (received.error().error != EAGAIN) lose("receive reply", received.error().error);
    return;
  }
  BuilderReply reply;
  if (received->closed) return lose("closed", 0);
  if (!read_fixed(*received, reply)) return lose("reply of another size", 0);
  if (reply.says == BuilderSays::Ready) {
    facts_ = reply;
    ready_ = true;
    return events_.builder_ready();
  }
  if (reply.slot >= kSlotsPerInstance || (reply.says == BuilderSays::Cloned) == received->fds.empty())
    return lose("reply that makes no sense", 0);
  if (reply.says == BuilderSays::Cloned) has_parts_ = reply.parts_made_ahead != 0;
  events_.builder_says(reply, received->fds.empty() ? Fd() : std::move(received->fds.front()));
}

void BuilderLink::lose(const char* why, int error) {
  log_line(Severity::Warning, "builder.gone", {{"why", why}, {"error", std::to_string(error)}},
           "jails that were being built have failed; the keeper starts a new one");
  socket_.reset();
  orders_ = Outbox();
  ready_ = false;
  events_.builder_gone();
}

}  // namespace mayfly
