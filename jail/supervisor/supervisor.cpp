#include "jail/supervisor/supervisor.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "jail/os/clock.h"
#include "jail/os/log.h"
#include "jail/supervisor/timers.h"

namespace mayfly {

namespace {

constexpr std::size_t kMostOperators = 64;  // connections at once
constexpr std::ptrdiff_t kMostOperatorsOfUser = 16;

constexpr Milliseconds kAcceptRest = 100_ms;  // without a free descriptor nobody can be let in

std::uint64_t unix_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

}  // namespace

Supervisor::Supervisor(EventLoop& loop, SupervisorConfig config, HostSide host)
    : loop_(loop),
      config_(std::move(config)),
      host_(std::move(host)),
      logins_(config_.access, config_.policy.catalogue, config_.state_directory, unix_ms),
      builder_(loop, *this),
      witness_(loop, [this] { reception_.pump(); }),
      keeper_(loop, *this),
      around_{loop,
              builder_,
              witness_,
              *host_.groups,
              host_.measure,
              *this,
              config_.uid_base,
              config_.rootless,
              config_.policy.made_ahead,
              host_.open_process},
      stop_timer_(loop),
      sweep_(loop),
      reception_(around_, config_.policy, host_.size,
                 [this](Lessee lessee, const FromSupervisor& message) { tell(lessee, message); }),
      started_unix_ms_(unix_ms()) {}

Expected<std::unique_ptr<Supervisor>> Supervisor::make(EventLoop& loop, SupervisorConfig config, SupervisorDoors doors,
                                                       HostSide host) {
  std::unique_ptr<Supervisor> made(new Supervisor(loop, std::move(config), std::move(host)));
  TRY(made->open_doors(std::move(doors)));
  made->prepare_groups();
  return made;
}

Expected<void> Supervisor::open_doors(SupervisorDoors doors) {
  TRY(builder_.adopt(std::move(doors.builder)));
  TRY(witness_.adopt(std::move(doors.witness)));
  TRY(keeper_.adopt(std::move(doors.keeper), std::move(doors.keeper_pidfd)));
  if (config_.private_engine) {
    add_front_end(std::move(doors.lease), Role::Cli, 0);
  } else {
    TRY(set_nonblocking(doors.lease.get(), Blocking::No));
    lease_ = TRY(Watched::make(loop_, std::move(doors.lease), EPOLLIN, [this](std::uint32_t) { accept_front_ends(); }));
  }
  if (!doors.monitor) return {};
  TRY(set_nonblocking(doors.monitor.get(), Blocking::No));
  monitor_ =
      TRY(Watched::make(loop_, std::move(doors.monitor), EPOLLIN, [this](std::uint32_t) { accept_operators(); }));
  return {};
}

void Supervisor::accept_front_ends() {
  for (int i = 0; i < kFramesPerTurn; ++i) {
    Expected<Fd> accepted = accept_from(lease_.fd());
    if (!accepted) return rest_when_full(lease_.get(), accepted.error());
    keeper_.catch_up();  // its pid was announced before it could run
    const Expected<PeerCredentials> peer = peer_credentials(*accepted);
    const std::optional<Role> role = peer ? keeper_.role_of(*peer) : std::nullopt;
    if (role) {
      add_front_end(std::move(*accepted), *role, peer->pid);
      continue;
    }
    log_line(Severity::Warning, "lease.stranger",
             {{"pid", std::to_string(peer ? peer->pid : 0)}, {"uid", std::to_string(peer ? peer->uid : 0)}},
             "not a front end that the keeper announced; closed");
  }
}

// Out of descriptors: a listener that nobody can serve would be told of for ever.
void Supervisor::rest_when_full(int listener, const Failure& why) {
  if (why.error != EMFILE && why.error != ENFILE && why.error != ENOMEM) return;
  log_failure("accept.resting", why);
  (void)loop_.change(listener, 0);
  loop_.after(kAcceptRest, [this, listener] { (void)loop_.change(listener, EPOLLIN); });
}

void Supervisor::add_front_end(Fd socket, Role role, pid_t pid) {
  const std::uint64_t id = next_connection_++;
  FrontEndEvents& events = *this;
  auto made = std::make_unique<FrontEnd>(loop_, events, id, role, pid);
  if (const Expected<void> adopted = made->adopt(std::move(socket)); !adopted)
    return log_failure("lease.not_adopted", adopted.error());
  front_ends_.emplace(id, std::move(made));
}

void Supervisor::accept_operators() {
  for (int i = 0; i < kFramesPerTurn; ++i) {
    Expected<Fd> accepted = accept_from(monitor_.fd());
    if (!accepted) return rest_when_full(monitor_.get(), accepted.error());
    const Expected<PeerCredentials> peer = peer_credentials(*accepted);
    const std::optional<Role> role =
        peer ? operator_role(*accepted, *peer, ::geteuid(), host_.operators) : std::nullopt;
    if (!role) continue;
    // Without a bound whoever may watch could take every descriptor that we have, and with them the builder's answers.
    const auto of_user = std::count_if(operators_.begin(), operators_.end(),
                                       [&](const auto& other) { return other.second->uid() == peer->uid; });
    if (operators_.size() >= kMostOperators || of_user >= kMostOperatorsOfUser) {
      log_line(Severity::Warning, "monitor.full",
               {{"connections", std::to_string(operators_.size())}, {"uid", std::to_string(peer->uid)}});
      continue;
    }
    OperatorEvents& events = *this;
    auto made = std::make_unique<Operator>(loop_, events, next_connection_++, *role, peer->uid);
    if (made->adopt(std::move(*accepted))) operators_.emplace(made->id(), std::move(made));
  }
}

// Groups for the defaults, made ahead in quiet moments (performance.md: empty, never used, single-use parts).
void Supervisor::prepare_groups() {
  if (!config_.policy.made_ahead || host_.groups->kind() == CgroupKind::None) return;
  for (const LimitRange* range :
       {&config_.policy.api, &config_.policy.exec, &config_.policy.shell, &config_.policy.run})
    host_.groups->expect(group_limits(range->defaults));
  loop_.when_idle(kIdleBeforeRefill, [this] { return host_.groups->refill(kGroupsPerIdle); });
}

void Supervisor::tell(Lessee lessee, const FromSupervisor& message) {
  if (std::holds_alternative<Refused>(message)) ++refused_;
  const auto found = front_ends_.find(lessee.front_end);
  if (found != front_ends_.end()) found->second->send(message);
}

Expected<void> Supervisor::front_end_opens(FrontEnd& peer, Open open, std::vector<Fd> fds) {
  if (peer.identity() && logins_.is_over(*peer.identity())) {
    log_line(
        Severity::Info, "jail.refused",
        {{"profile", peer.identity()->profile}, {"principal", peer.identity()->principal}, {"ending", "login-over"}});
    tell(Lessee{peer.id(), open.run},
         refused(open.run, "",
                 {RefusalKind::Quota, "", "what let you in counts no more: expired, revoked or taken out", 0}));
    return {};
  }
  return reception_.open(peer, std::move(open), std::move(fds));
}

void Supervisor::run_cancelled(const JailId& id, Ending why) {
  if (HeldJail* held = reception_.jails().find(id)) held->jail.end(ended_as(why));
}

void Supervisor::run_signalled(const JailId& id, int number) {
  if (HeldJail* held = reception_.jails().find(id)) held->jail.signal(number);
}

void Supervisor::run_resized(const JailId& id, TerminalSize size) {
  if (HeldJail* held = reception_.jails().find(id)) held->jail.resize(size);
}

void Supervisor::front_end_asks_host(FrontEnd& peer) {
  // Asked twice before the answer, it is answered twice; a peer that floods is cut by its outbox.
  if (host_questions_.size() >= kMaxRunsPerPeer) return;
  host_questions_.push_back(peer.id());
  if (builder_.is_ready()) answer_host_questions();
}

void Supervisor::front_end_logs_in(FrontEnd& peer, const LogIn& login) {
  const std::optional<Identity> found = logins_.judge(login);
  if (!found) return peer.send(LoginJudged{});
  if (login.way == LoginWay::KeyOffer) return peer.send(LoginJudged{true, "", {}});
  log_line(Severity::Info, "login.admitted",
           {{"principal", found->principal}, {"profile", found->profile}, {"source", login.source}});
  peer.send(LoginJudged{true, found->principal, found->command});
  peer.speaks_for(*found);
}

ShutOut Supervisor::shut_out(const std::string& principal) {
  ShutOut out;
  for (const auto& [id, peer] : front_ends_) {
    if (!peer->identity() || peer->identity()->principal != principal) continue;
    peer->shut_out();
    ++out.connections;
  }
  out.jails = kill_jails(principal);
  return out;
}

void Supervisor::answer_host_questions() {
  if (host_questions_.empty()) return;
  Host host = host_.survey(builder_.facts());
  for (const Profile& profile : config_.policy.catalogue.profiles())
    if (profile.has_folders()) host.with_folders.push_back(profile.name);
  for (const std::uint64_t asker : std::exchange(host_questions_, {})) tell(Lessee{asker, 0}, host);
}

void Supervisor::front_end_lost(FrontEnd& peer) { lose(peer); }

// A front end's rights are its connection: with it go its jails.
void Supervisor::lose(FrontEnd& peer) {
  const auto found = front_ends_.find(peer.id());
  if (found == front_ends_.end()) return;
  peer.cut();
  lost_front_ends_.push_back(std::move(found->second));
  front_ends_.erase(found);
  for (const auto& [run, id] : std::map(peer.runs()))
    if (HeldJail* held = reception_.jails().find(id)) held->jail.end(ended_as(Ending::Disconnected));
  bury_connection();
}

void Supervisor::front_end_gone(pid_t pid) {
  std::vector<FrontEnd*> gone;
  for (const auto& [id, peer] : front_ends_)
    if (peer->pid() == pid) gone.push_back(peer.get());
  for (FrontEnd* peer : gone) lose(*peer);
}

void Supervisor::operator_lost(Operator& peer) {
  const auto found = operators_.find(peer.id());
  if (found == operators_.end()) return;
  lost_operators_.push_back(std::move(found->second));
  operators_.erase(found);
  bury_connection();
}

void Supervisor::bury_connection() {
  if (!sweep_.is_set())
    sweep_.set(Milliseconds{0}, [this] {
      lost_front_ends_.clear();
      lost_operators_.clear();
    });
}

void Supervisor::builder_ready() {
  answer_host_questions();
  reception_.pump();
}

void Supervisor::builder_says(const BuilderReply& reply, Fd pidfd) {
  if (HeldJail* held = reception_.jails().at_slot(reply.slot)) held->jail.builder_says(reply, std::move(pidfd));
}

void Supervisor::builder_gone() {
  for (const JailId& id : reception_.jails().ids())
    if (HeldJail* held = reception_.jails().find(id)) held->jail.builder_gone();
}

void Supervisor::new_builder(Fd socket) {
  if (const Expected<void> adopted = builder_.adopt(std::move(socket)); !adopted)
    log_failure("builder.not_adopted", adopted.error());
}

void Supervisor::new_witness(Fd socket) {
  if (const Expected<void> adopted = witness_.adopt(std::move(socket)); !adopted)
    log_failure("witness.not_adopted", adopted.error());
}

void Supervisor::new_settings(Fd memfd) {
  auto read = memfd ? read_supervisor_config(memfd) : tl::make_unexpected(Failure{"reload", 0, {}, "refused"});
  if (!read) {
    ++reloads_refused_;
    log_line(Severity::Error, "settings.refused", {}, "the old ones go on");
    return;
  }
  restart_needed_ = take_settings(config_, std::move(*read));
  reception_.limit_principals(config_.policy.principals);
  prepare_groups();
  ++reloads_;
  log_line(Severity::Info, "settings.taken", {{"restart_needed_for", restart_needed_}});
}

void Supervisor::keeper_gone() { begin_stop(Hurry::Yes); }
void Supervisor::stop() { begin_stop(Hurry::No); }

void Supervisor::begin_stop(Hurry hurry) {
  if (hurry == Hurry::Yes) hurried_ = true;
  if (stopping_ && hurry == Hurry::No) return;
  stopping_ = true;
  reception_.drain();
  for (const JailId& id : reception_.jails().ids())
    if (HeldJail* held = reception_.jails().find(id)) held->jail.end(ended_as(Ending::Shutdown));
  stop_timer_.set(hurried_ ? kFastStop : kStopLimit, [this] {
    log_line(Severity::Warning, "stop.unfinished", {{"jails", std::to_string(reception_.jails().all().size())}},
             "what is left dies with us; the next start removes it");
    loop_.stop();
  });
  stop_when_empty();
}

// Whose result is out and whose bytes are delivered needs us no more; with nobody left to deliver to, results are
// enough.
void Supervisor::stop_when_empty() {
  if (!stopping_) return;
  for (const auto& [id, held] : reception_.jails().all())
    if (!held->jail.is_over() || (!hurried_ && !held->jail.has_left())) return;
  loop_.stop();
}

}  // namespace mayfly
