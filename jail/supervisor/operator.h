// Operator: one monitor connection (wire/monitor.h). Readers ask, operators may also kill and drain (wire/permits.h).
#pragma once

#include <optional>
#include <vector>

#include "jail/os/unix_socket.h"
#include "jail/supervisor/connection.h"
#include "jail/supervisor/logins.h"
#include "jail/wire/monitor.h"
#include "jail/wire/permits.h"

namespace mayfly {

class Operator;

struct ShutOut {
  std::uint32_t connections = 0, jails = 0;
};

class OperatorEvents {
 public:
  virtual ~OperatorEvents() = default;
  virtual Status status() = 0;
  virtual std::vector<JailRow> jail_rows() = 0;
  virtual std::uint32_t kill_jails(const std::string& target) = 0;
  virtual void drain() = 0;
  virtual Logins& logins() = 0;
  // Its jails end as killed, and its connections get no others.
  virtual ShutOut shut_out(const std::string& principal) = 0;
  virtual void operator_lost(Operator& peer) = 0;  // may not destroy it before returning
};

class Operator final : private ConnectionEvents {
 public:
  Operator(EventLoop& loop, OperatorEvents& events, std::uint64_t id, Role role, uid_t uid)
      : events_(events), connection_(loop, *this), id_(id), role_(role), uid_(uid) {}
  Expected<void> adopt(Fd socket) { return connection_.adopt(std::move(socket)); }
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] uid_t uid() const { return uid_; }

 private:
  Expected<void> frame_came(Frame frame) override;
  std::string fault_frame(const std::string& text) const override { return encode(ToMonitor{Denied{text}}); }
  void connection_lost() override { events_.operator_lost(*this); }
  void send(const ToMonitor& message) { connection_.send(encode(message)); }
  void send_rows();
  void make_invites(const NewInvites& order);
  void send_invites(Expected<std::vector<InviteRow>> rows);
  void revoke(const std::string& name);
  [[nodiscard]] bool may(Message message) const { return is_permitted(role_, message, RunPhase::NoRun); }

  OperatorEvents& events_;
  Connection connection_;
  std::uint64_t id_;
  Role role_;
  uid_t uid_;
};

// Who is at the other end of monitor.sock: root and our own user act; group mayfly-ops acts and mayfly-watch reads,
// where those groups exist (SO_PEERGROUPS, socket(7)); nobody else.
struct OperatorGroups {
  std::optional<gid_t> act, watch;
  static OperatorGroups of_this_host();  // reads /etc/group; before lock_down
};
std::optional<Role> operator_role(const Fd& socket, const PeerCredentials& peer, uid_t own,
                                  const OperatorGroups& groups);

}  // namespace mayfly
