// KeeperLink: what the keeper tells us (wire/keeper.h), and which pids are front ends of ours.
#pragma once

#include <sys/types.h>

#include <optional>
#include <unordered_map>

#include "jail/os/unix_socket.h"
#include "jail/supervisor/watched.h"
#include "jail/wire/keeper.h"

namespace mayfly {

class KeeperEvents {
 public:
  virtual ~KeeperEvents() = default;
  virtual void front_end_gone(pid_t pid) = 0;
  virtual void new_builder(Fd socket) = 0;
  virtual void new_witness(Fd socket) = 0;
  virtual void new_settings(Fd memfd) = 0;  // empty: they were refused
  virtual void stop_asked() = 0;
  virtual void keeper_gone() = 0;
};

class KeeperLink {
 public:
  KeeperLink(EventLoop& loop, KeeperEvents& events) : loop_(loop), events_(events) {}

  // `pidfd` is readable when the keeper is dead, whoever holds copies of its socket.
  Expected<void> adopt(Fd socket, Fd pidfd);

  // Before a new connection is judged: takes in every announcement that was made before it.
  void catch_up();
  // The role of a peer that connected to lease.sock; none when it was not announced, or has another uid.
  [[nodiscard]] std::optional<Role> role_of(const PeerCredentials& peer) const;

 private:
  struct Announced {
    Role role = Role::Cli;
    uid_t uid = 0;
  };
  bool take_one();
  void take(const KeeperMessage& message, Fd fd);
  void lose();

  EventLoop& loop_;
  KeeperEvents& events_;
  Watched socket_, pidfd_;
  std::unordered_map<pid_t, Announced> announced_;
};

}  // namespace mayfly
