#include "jail/supervisor/outbox.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "jail/os/unix_socket.h"

namespace mayfly {

namespace {
// ETOOMANYREFS: more descriptors of ours are in flight than RLIMIT_NOFILE; they will be taken out, so wait.
bool is_full(const Failure& why) { return why.error == EAGAIN || why.error == ENOBUFS || why.error == ETOOMANYREFS; }
}  // namespace

Expected<void> Outbox::send(std::span<const std::byte> bytes, std::span<const int> fds, std::vector<Fd> given,
                            std::uint64_t tag) {
  if (waiting_.empty()) {
    Expected<void> sent = send_message(socket_, bytes, fds);
    if (sent || !is_full(sent.error())) return sent;
    TRY(loop_->change(socket_, EPOLLIN | EPOLLOUT));
  }
  if (held_bytes_ + bytes.size() > most_bytes_) return failure("keep message for a slow reader", ENOBUFS);
  held_bytes_ += bytes.size();
  waiting_.push_back(Parcel{{bytes.begin(), bytes.end()}, {fds.begin(), fds.end()}, std::move(given), tag});
  return {};
}

Expected<void> Outbox::flush() {
  while (!waiting_.empty()) {
    const Parcel& first = waiting_.front();
    Expected<void> sent = send_message(socket_, first.bytes, first.fds);
    if (!sent) return is_full(sent.error()) ? Expected<void>{} : sent;
    held_bytes_ -= first.bytes.size();
    waiting_.pop_front();
  }
  return loop_->change(socket_, EPOLLIN);
}

bool Outbox::withdraw(std::uint64_t tag) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [tag](const Parcel& p) { return p.tag == tag; });
  if (found == waiting_.end()) return false;
  held_bytes_ -= found->bytes.size();
  waiting_.erase(found);
  return true;
}

}  // namespace mayfly
