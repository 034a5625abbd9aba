// FrontEnd: one lease connection and the runs on it (wire/lease.h). What may be said is wire/permits.h; anything else
// is answered with a Fault and the end of the connection, and with it of every run on it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include "jail/spec/jail_id.h"
#include "jail/supervisor/connection.h"
#include "jail/supervisor/logins.h"
#include "jail/wire/keeper.h"
#include "jail/wire/lease.h"
#include "jail/wire/permits.h"

namespace mayfly {

class FrontEnd;

class FrontEndEvents {
 public:
  virtual ~FrontEndEvents() = default;
  // Takes the run into the front end's table (began), or answers Refused. A Failure: malformed, the peer is cut.
  virtual Expected<void> front_end_opens(FrontEnd& peer, Open open, std::vector<Fd> fds) = 0;
  virtual void run_cancelled(const JailId& id, Ending why) = 0;
  virtual void run_signalled(const JailId& id, int number) = 0;
  virtual void run_resized(const JailId& id, TerminalSize size) = 0;
  virtual void front_end_asks_host(FrontEnd& peer) = 0;
  // Answers LoginJudged; a good one that is no KeyOffer makes the peer speak for somebody (speaks_for).
  virtual void front_end_logs_in(FrontEnd& peer, const LogIn& login) = 0;
  virtual void front_end_lost(FrontEnd& peer) = 0;  // may not destroy it before returning
};

class FrontEnd final : private ConnectionEvents {
 public:
  FrontEnd(EventLoop& loop, FrontEndEvents& events, std::uint64_t id, Role role, pid_t pid)
      : events_(events), connection_(loop, *this), id_(id), role_(role), pid_(pid) {}

  Expected<void> adopt(Fd socket) { return connection_.adopt(std::move(socket)); }
  [[nodiscard]] std::uint64_t id() const { return id_; }
  [[nodiscard]] Role role() const { return role_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::map<RunNumber, JailId>& runs() const { return runs_; }

  // Nothing until the login of an SSH connection; always nothing for other front ends, which speak for everybody.
  [[nodiscard]] const std::optional<Identity>& identity() const { return identity_; }
  void speaks_for(Identity identity) { identity_ = std::move(identity); }
  void shut_out() { identity_->is_over = true; }  // no new jail from now on

  void send(const FromSupervisor& message) { connection_.send(encode(message)); }
  void began(RunNumber run, const JailId& id) { runs_[run] = id; }
  void over(RunNumber run) { runs_.erase(run); }
  void cut() { connection_.cut(); }

 private:
  Expected<void> frame_came(Frame frame) override;
  std::string fault_frame(const std::string& text) const override { return encode(FromSupervisor{Fault{text}}); }
  void connection_lost() override { events_.front_end_lost(*this); }

  Expected<void> take(Open message, std::vector<Fd> fds);
  // The jail of a live run; none when it is over, which the peer cannot know yet; a Failure when it never was.
  Expected<std::optional<JailId>> judge(Message message, RunNumber run) const;

  FrontEndEvents& events_;
  Connection connection_;
  std::uint64_t id_;
  Role role_;
  pid_t pid_;
  std::optional<Identity> identity_;
  std::map<RunNumber, JailId> runs_;
  RunNumber newest_ = 0;
  bool any_ = false;
};

}  // namespace mayfly
