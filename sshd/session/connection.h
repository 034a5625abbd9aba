// Connection: everything that one session process does. One poll loop over the peer's socket, the lease, the streams of
// the jails, and the two processes without which this one has no reason to be: the keeper and the listener.
// Owner: main. When serve() returns the process exits, and with the lease's descriptor every jail of it ends.
#pragma once

#include <memory>
#include <vector>

#include "jail/os/peer.h"
#include "sshd/config.h"
#include "sshd/session/channel.h"
#include "sshd/session/deadlines.h"
#include "sshd/session/key_exchanges.h"
#include "sshd/session/server_callbacks.h"
#include "sshd/session/turn_watch.h"
#include "sshd/session_end.h"

namespace mayfly {

inline constexpr std::size_t kMostChannels = 10;
inline constexpr std::uint64_t kMostPacketsBeforeLogin = 256;  // an honest login needs about ten

struct Guardians {
  Fd keeper;  // pidfds
  Fd listener;
};

class Connection final : private ServerEvents, private LoginJudge {
 public:
  // `report`: where the listener hears of the login (session_end.h).
  Connection(const SshdConfig& config, Peer peer, SupervisorClient client, Guardians guardians, Fd report);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Until the peer leaves, or has to. `prepared` has accepted nobody yet.
  // A Failure: the connection could not even be started.
  Expected<SessionEnd> serve(Fd connection, std::unique_ptr<Transport> prepared);

 private:
  LoginVerdict on_login(std::string_view user, Proof proof, std::string_view credential) override;
  ssh_channel on_channel_open() override;
  void on_service(std::string_view name) override;
  std::optional<LoginJudged> judge_login(const LogIn& login) override;

  void loop();
  bool wait();  // false: a guardian is gone
  void hear_peer();
  void hear_supervisor();
  void deliver(const FromSupervisor& message);
  void advance_channels();
  void drop_finished();
  void judge_peer();
  void judge_deadlines();
  void engine_is_gone();
  void await_closed_channels();
  [[nodiscard]] int timeout_ms() const;
  void tell_login();
  void leave_for(const char* reason, SessionEnd end);
  void judge_silent_end();

  SshAccess access_;
  Peer peer_;
  Admission admission_;
  SupervisorClient client_;
  Guardians guardians_;
  Fd report_;
  SessionOwner owner_;
  Deadlines deadlines_;
  KeyExchanges key_exchanges_;
  TurnWatch watch_;
  ssh_server_callbacks_struct callbacks_;
  Interactive interactive_;
  std::unique_ptr<Transport> transport_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<pollfd> entries_;
  std::uint64_t packets_heard_ = 0;
  std::size_t first_ = 0;  // whose turn it is to write first
  bool engine_alive_ = true;
  bool silent_end_ = false;       // the peer is not told why
  bool is_login_untold_ = false;  // to listener and log
  bool was_refused_ = false;      // a login that could have been good
  const char* leaving_ = nullptr;
  SessionEnd end_ = SessionEnd::Served;
};

}  // namespace mayfly
