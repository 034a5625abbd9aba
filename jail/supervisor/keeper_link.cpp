#include "jail/supervisor/keeper_link.h"

#include <sys/epoll.h>

#include <cerrno>

#include "jail/os/log.h"
#include "jail/supervisor/fixed_message.h"

namespace mayfly {

namespace {
constexpr int kAnnouncementsAtOnce = 1024;  // more than the socket's buffer holds
}

Expected<void> KeeperLink::adopt(Fd socket, Fd pidfd) {
  TRY(set_nonblocking(socket.get(), Blocking::No));
  socket_ = TRY(Watched::make(loop_, std::move(socket), EPOLLIN, [this](std::uint32_t) { catch_up(); }));
  pidfd_ = TRY(Watched::make(loop_, std::move(pidfd), EPOLLIN, [this](std::uint32_t) { lose(); }));
  return {};
}

void KeeperLink::catch_up() {
  for (int i = 0; i < kAnnouncementsAtOnce && socket_; ++i)
    if (!take_one()) return;
}

bool KeeperLink::take_one() {
  Expected<Received> received = receive_message(socket_.get(), sizeof(KeeperMessage), 1);
  if (!received && received.error().error == EAGAIN) return false;
  KeeperMessage message;
  if (!received || received->closed || !read_fixed(*received, message) || message.magic != KeeperMessage::kMagic) {
    lose();
    return false;
  }
  take(message, received->fds.empty() ? Fd() : std::move(received->fds.front()));
  return true;
}

void KeeperLink::take(const KeeperMessage& message, Fd fd) {
  switch (message.says) {
    case KeeperSays::FrontEnd:
      announced_[message.pid] = {message.role, message.uid};
      return;
    case KeeperSays::FrontEndGone:
      announced_.erase(message.pid);
      return events_.front_end_gone(message.pid);
    case KeeperSays::NewBuilder:
      if (fd) events_.new_builder(std::move(fd));
      return;
    case KeeperSays::NewWitness:
      if (fd) events_.new_witness(std::move(fd));
      return;
    case KeeperSays::NewSettings:
      if (fd) events_.new_settings(std::move(fd));
      return;
    case KeeperSays::NoSettings:
      return events_.new_settings(Fd());
    case KeeperSays::Stop:
      return events_.stop_asked();
  }
}

void KeeperLink::lose() {
  if (!socket_ && !pidfd_) return;
  log_line(Severity::Warning, "keeper.gone", {}, "every jail ends, and so do we");
  socket_.reset();
  pidfd_.reset();
  events_.keeper_gone();
}

std::optional<Role> KeeperLink::role_of(const PeerCredentials& peer) const {
  const auto found = announced_.find(peer.pid);
  if (found == announced_.end() || found->second.uid != peer.uid) return std::nullopt;
  const Role role = found->second.role;
  return role == Role::Ssh || role == Role::Api || role == Role::Cli ? std::optional(role) : std::nullopt;
}

}  // namespace mayfly
