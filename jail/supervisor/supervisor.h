// Supervisor: owns everything that decides. Single-threaded; every event comes from one loop (os/event_loop.h).
//
//   keeper ── front ends announced, new builder, stop ──┐
//   lease.sock ── FrontEnd ── Reception (queue, admission, slots) ── Jail ── builder, relay, gate, cgroup
//   monitor.sock ── Operator ── table of jails
//
// Ends (loop.stop()) when it was told to and every jail is gone, kStopLimit at most.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "jail/supervisor/keeper_link.h"
#include "jail/supervisor/operator.h"
#include "jail/supervisor/reception.h"
#include "jail/wire/supervisor_config.h"

namespace mayfly {

// The descriptors that the keeper gave us (wire/startup.h).
struct SupervisorDoors {
  Fd keeper_pidfd, keeper, builder, witness;
  Fd lease;    // listening, or connected for a private engine
  Fd monitor;  // listening; none for a private engine
};

// What is asked of the host: real ones in main.cpp, others in tests.
struct HostSide {
  std::unique_ptr<CgroupHost> groups;
  Measurer measure;
  ProcessOpener open_process;
  std::function<Host(const BuilderReply& builder)> survey;  // for AskHost; the builder's Ready is known by then
  HostSize size;
  OperatorGroups operators;
};

class Supervisor final : private JailEvents,
                         private BuilderEvents,
                         private FrontEndEvents,
                         private OperatorEvents,
                         private KeeperEvents {
 public:
  static Expected<std::unique_ptr<Supervisor>> make(EventLoop& loop, SupervisorConfig config, SupervisorDoors doors,
                                                    HostSide host);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor() override = default;

  void stop();  // SIGTERM, or the keeper's word

 private:
  enum class Hurry : bool { No, Yes };

  Supervisor(EventLoop& loop, SupervisorConfig config, HostSide host);
  Expected<void> open_doors(SupervisorDoors doors);
  void accept_front_ends();
  void accept_operators();
  void rest_when_full(int listener, const Failure& why);
  void add_front_end(Fd socket, Role role, pid_t pid);
  void prepare_groups();
  void tell(Lessee lessee, const FromSupervisor& message);
  void answer_host_questions();
  void begin_stop(Hurry hurry);
  void stop_when_empty();
  void lose(FrontEnd& peer);
  void bury_connection();

  // JailEvents
  void jail_built(const Jail& jail) override;
  void jail_running(const Jail& jail) override;
  void jail_result(Jail& jail, const Result& result, const Decision& decision) override;
  void jail_left(Jail& jail) override;
  void jail_released(Jail& jail) override;
  void jail_leaked(Jail& jail) override;
  // BuilderEvents
  void builder_ready() override;
  void builder_says(const BuilderReply& reply, Fd pidfd) override;
  void builder_gone() override;
  // FrontEndEvents
  Expected<void> front_end_opens(FrontEnd& peer, Open open, std::vector<Fd> fds) override;
  void run_cancelled(const JailId& id, Ending why) override;
  void run_signalled(const JailId& id, int number) override;
  void run_resized(const JailId& id, TerminalSize size) override;
  void front_end_asks_host(FrontEnd& peer) override;
  void front_end_logs_in(FrontEnd& peer, const LogIn& login) override;
  void front_end_lost(FrontEnd& peer) override;
  // OperatorEvents
  Status status() override;
  std::vector<JailRow> jail_rows() override;
  std::uint32_t kill_jails(const std::string& target) override;
  void drain() override;
  Logins& logins() override { return logins_; }
  ShutOut shut_out(const std::string& principal) override;
  void operator_lost(Operator& peer) override;
  // KeeperEvents
  void front_end_gone(pid_t pid) override;
  void new_builder(Fd socket) override;
  void new_witness(Fd socket) override;
  void new_settings(Fd memfd) override;
  void stop_asked() override { stop(); }
  void keeper_gone() override;

  EventLoop& loop_;
  SupervisorConfig config_;
  HostSide host_;
  Logins logins_;
  std::uint64_t reloads_ = 0, reloads_refused_ = 0;
  std::string restart_needed_;  // keys that differ in the configuration as it was read last, and that we cannot change
  BuilderLink builder_;
  WitnessLink witness_;
  KeeperLink keeper_;
  Surroundings around_;
  Timer stop_timer_, sweep_;
  std::unordered_map<std::uint64_t, std::unique_ptr<FrontEnd>> front_ends_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Operator>> operators_;
  std::vector<std::unique_ptr<FrontEnd>> lost_front_ends_;  // destroyed when no call of theirs is on the stack
  std::vector<std::unique_ptr<Operator>> lost_operators_;
  std::vector<std::uint64_t> host_questions_;  // front ends that wait for the builder's facts
  Reception reception_;
  Watched lease_, monitor_;
  std::uint64_t next_connection_ = 1;
  std::uint64_t started_unix_ms_ = 0, built_ = 0, refused_ = 0, failed_ = 0, leaks_ = 0;
  bool stopping_ = false, hurried_ = false;
};

}  // namespace mayfly
