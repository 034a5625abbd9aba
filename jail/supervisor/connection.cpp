#include "jail/supervisor/connection.h"

#include <sys/epoll.h>

#include <cerrno>

#include "jail/os/log.h"
#include "jail/os/unix_socket.h"
#include "jail/spec/escape.h"
#include "jail/supervisor/timers.h"

namespace mayfly {

Expected<void> Connection::adopt(Fd socket) {
  TRY(set_nonblocking(socket.get(), Blocking::No));
  socket_ = TRY(Watched::make(loop_, std::move(socket), EPOLLIN, [this](std::uint32_t what) { on_event(what); }));
  outbox_ = Outbox(loop_, socket_.get(), kMaxOutbox);
  return {};
}

void Connection::send(std::string_view text) {
  if (!socket_) return;
  const Expected<void> sent = outbox_.send(std::as_bytes(std::span(text)), {}, {});
  if (sent) return;
  log_line(Severity::Warning, "peer.cut", {{"error", sent.error().text()}}, "it is gone or does not read");
  lose();
}

void Connection::cut() { socket_.reset(); }

void Connection::on_event(std::uint32_t what) {
  if ((what & EPOLLOUT) != 0 && !outbox_.flush()) return lose();
  if ((what & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0) return;
  for (int i = 0; i < kFramesPerTurn && socket_; ++i)
    if (!take_one()) return;
}

bool Connection::take_one() {
  Expected<Frame> frame = receive_frame(socket_.get());
  if (!frame && frame.error().error == EAGAIN) return false;
  if (frame && frame->closed) {
    lose();
    return false;
  }
  Expected<void> taken = frame ? events_.frame_came(std::move(*frame)) : tl::make_unexpected(frame.error());
  if (taken) return true;
  const std::string text = taken.error().text();
  log_line(Severity::Warning, "peer.refused_frame", {{"why", text}}, "its connection is closed");
  if (socket_) (void)send_frame(socket_.get(), events_.fault_frame(text));
  lose();
  return false;
}

void Connection::lose() {
  if (!socket_) return;
  socket_.reset();
  events_.connection_lost();
}

}  // namespace mayfly
