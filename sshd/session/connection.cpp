#include "sshd/session/connection.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "jail/os/clock.h"
#include "jail/os/log.h"
#include "jail/spec/escape.h"

namespace mayfly {

namespace {

constexpr Milliseconds kFarewell = 2_s;     // for the peer to take what is left
constexpr Milliseconds kLoginAnswer = 5_s;  // of the supervisor, which answers at once or is in trouble
constexpr int kMostMessagesPerTurn = 64;    // of the supervisor, then everybody else has a turn

RunNumber run_of(const FromSupervisor& message) {
  struct {
    RunNumber operator()(const Queued& m) const { return m.run; }
    RunNumber operator()(const Running& m) const { return m.run; }
    RunNumber operator()(const Refused& m) const { return m.run; }
    RunNumber operator()(const Ended& m) const { return m.run; }
    RunNumber operator()(const Host&) const { return 0; }
    RunNumber operator()(const Fault&) const { return 0; }
    RunNumber operator()(const LoginJudged&) const { return 0; }
  } const number;
  return std::visit(number, message);
}

}  // namespace

Connection::Connection(const SshdConfig& config, Peer peer, SupervisorClient client, Guardians guardians, Fd report)
    : access_(config.access),
      peer_(std::move(peer)),
      admission_(*this, peer_.source, peer_.host),
      client_(std::move(client)),
      guardians_(std::move(guardians)),
      report_(std::move(report)),
      deadlines_(monotonic_now()),
      key_exchanges_(monotonic_now()),
      callbacks_(server_callbacks(*this)),
      interactive_(*this) {}

Expected<SessionEnd> Connection::serve(Fd connection, std::unique_ptr<Transport> prepared) {
  if (!may_begin_ssh(connection)) {
    log_line(Severity::Info, "sshd.closed", {{"peer", peer_.text}, {"why", "what it sent is not SSH"}});
    return SessionEnd::BadProtocol;
  }
  transport_ = std::move(prepared);
  TRY(transport_->accept(std::move(connection), &callbacks_));
  silent_end_ = !transport_->is_open();
  transport_->offer(access_, interactive_);
  loop();
  if (leaving_ == nullptr) judge_silent_end();
  if (admission_.admitted() || admission_.last_user().empty())
    log_line(Severity::Info, "sshd.closed", {{"peer", peer_.text}, {"why", leaving_}});
  else
    log_line(Severity::Info, "sshd.closed",
             {{"peer", peer_.text}, {"user", admission_.last_user()}, {"why", leaving_}});
  if (!silent_end_) await_closed_channels();
  if (!silent_end_) transport_->leave(leaving_, kFarewell);
  return end_;
}

// A client that finds our DISCONNECT right behind an exit status forgets the status. So whoever was told one closes
// its channels first, if it does so in time.
void Connection::await_closed_channels() {
  const auto awaited = [](const auto& channel) { return channel->has_said_all() && !channel->is_finished(); };
  const Microseconds until = monotonic_now() + kFarewell;
  while (std::any_of(channels_.begin(), channels_.end(), awaited)) {
    const auto left = (until - monotonic_now()).count() / 1000;
    if (left <= 0) return;
    pollfd entry{transport_->descriptor(), transport_->interest(), 0};
    transport_->rearm_quick_acks();
    if (::poll(&entry, 1, static_cast<int>(left)) > 0 && !transport_->turn()) silent_end_ = true;
    if (silent_end_) return;
  }
}

void Connection::loop() {
  while (leaving_ == nullptr && !silent_end_) {
    if (!wait()) return leave_for("the service has ended", SessionEnd::OwnFailure);
    watch_.begin_turn(monotonic_now());
    hear_peer();
    if (is_login_untold_) tell_login();
    if (silent_end_) return;
    hear_supervisor();
    advance_channels();
    drop_finished();
    judge_peer();
    judge_deadlines();
  }
}

bool Connection::wait() {
  entries_.clear();
  entries_.push_back({guardians_.keeper.get(), POLLIN, 0});
  entries_.push_back({guardians_.listener.get(), POLLIN, 0});
  entries_.push_back({transport_->descriptor(), transport_->interest(), 0});
  entries_.push_back({engine_alive_ ? client_.descriptor() : -1,
                      static_cast<short>(client_.wants_write() ? POLLIN | POLLOUT : POLLIN), 0});
  for (const auto& channel : channels_) channel->add_interest(entries_);
  transport_->rearm_quick_acks();
  // A callback that came after its channel had its turn is not kept waiting.
  const int timeout = transport_->take_called_back() ? 0 : timeout_ms();
  if (::poll(entries_.data(), entries_.size(), timeout) < 0 && errno != EINTR) return false;
  return entries_[0].revents == 0 && entries_[1].revents == 0;
}

int Connection::timeout_ms() const {
  Microseconds next = deadlines_.next();
  for (const auto& channel : channels_)
    if (const auto stall = channel->deadline()) next = std::min(next, *stall);
  const auto left = (next - monotonic_now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left / 1000 + 1, 0, 60'000));
}

void Connection::hear_peer() {
  if (entries_[2].revents != 0) {
    if (!transport_->turn()) silent_end_ = true;
  } else if (!transport_->is_open()) {
    silent_end_ = true;  // a write of ours found it gone
  }
  if (silent_end_) return;
  for (const auto& channel : channels_) channel->judge_window();
  if (transport_->packets() == packets_heard_) return;
  packets_heard_ = transport_->packets();
  const Microseconds now = monotonic_now();
  deadlines_.heard(now);
  key_exchanges_.look(transport_->key_exchanges(), transport_->payload_bytes(), now);
}

void Connection::hear_supervisor() {
  for (int i = 0; engine_alive_ && i < kMostMessagesPerTurn; ++i) {
    auto message = client_.receive();
    if (!message) {
      log_failure("sshd.engine_gone", message.error());
      return engine_is_gone();
    }
    if (!*message) return;
    deliver(**message);
  }
}

void Connection::deliver(const FromSupervisor& message) {
  if (const auto* fault = std::get_if<Fault>(&message))
    log_line(Severity::Error, "sshd.engine_refuses_us", {{"text", escape(fault->text)}});
  const RunNumber run = run_of(message);
  for (const auto& channel : channels_)
    if (channel->run() == run) channel->receive(message);
}

void Connection::engine_is_gone() {
  engine_alive_ = false;
  const Microseconds now = monotonic_now();
  for (const auto& channel : channels_) channel->engine_is_gone(now);
}

// Whoever comes first fills libssh's buffer: the first place goes round.
void Connection::advance_channels() {
  const Microseconds now = monotonic_now();
  if (channels_.empty()) return;
  first_ = (first_ + 1) % channels_.size();
  // By index: libssh may open a channel while another one is written to.
  for (std::size_t i = 0, count = channels_.size(); i < count; ++i)
    channels_[(first_ + i) % count]->advance(client_, owner_, now);
  deadlines_.used(now);
}

void Connection::drop_finished() {
  std::erase_if(channels_, [](const std::unique_ptr<Channel>& channel) {
    if (!channel->is_finished()) return false;
    channel->release();
    return true;
  });
  if (engine_alive_) return;
  const bool said = std::all_of(channels_.begin(), channels_.end(), [](const auto& c) { return c->has_said_all(); });
  if (said) leave_for("the jail engine has stopped", SessionEnd::OwnFailure);
}

void Connection::judge_peer() {
  if (!admission_.admitted() && transport_->packets() > kMostPacketsBeforeLogin)
    leave_for("too many packets before login", SessionEnd::BadProtocol);
  if (admission_.exhausted()) leave_for("too many attempts to log in", SessionEnd::FailedLogin);
  if (transport_->was_intruded()) leave_for("packets out of turn before the first keys", SessionEnd::BadProtocol);
  if (key_exchanges_.are_too_many()) leave_for("too many key exchanges", SessionEnd::BadProtocol);
  for (const auto& channel : channels_)
    if (channel->broke_protocol()) leave_for("window exceeded", SessionEnd::BadProtocol);
}

void Connection::judge_deadlines() {
  switch (deadlines_.due(monotonic_now())) {
    case Due::Nothing:
      return;
    case Due::Keepalive:
      return transport_->send_keepalive();
    case Due::LoginTooSlow:
      return leave_for("login took too long", SessionEnd::GraceExceeded);
    case Due::Unused:
      return leave_for("unused for too long", SessionEnd::Served);
    case Due::PeerSilent:
      silent_end_ = true;
      return leave_for("peer silent", SessionEnd::Served);
  }
}

void Connection::leave_for(const char* reason, SessionEnd end) {
  if (leaving_ != nullptr) return;
  leaving_ = reason;
  end_ = end;
}

// The connection is of no more use, and nobody here has said why.
void Connection::judge_silent_end() {
  const bool left = transport_->peer_has_left();
  if (admission_.admitted()) return leave_for("peer left", SessionEnd::Served);
  if (was_refused_) return leave_for("peer left after a refused login", SessionEnd::FailedLogin);
  if (left) return leave_for("peer left before login", SessionEnd::NeverAuthenticated);
  leave_for("protocol broken or ended before login", SessionEnd::BadProtocol);
}

// Within a callback of libssh, which has no other way to answer: nobody else waits for this process yet.
std::optional<LoginJudged> Connection::judge_login(const LogIn& login) {
  if (leaving_ != nullptr) return std::nullopt;
  auto judged = client_.log_in(login, kLoginAnswer);
  if (judged) return std::move(*judged);
  log_failure("sshd.login_not_judged", judged.error());
  // An answer that is late would be taken for that to another question.
  leave_for("the service does not answer", SessionEnd::OwnFailure);
  return std::nullopt;
}

LoginVerdict Connection::on_login(std::string_view user, Proof proof, std::string_view credential) {
  transport_->note_callback();
  const LoginVerdict verdict = admission_.judge(user, proof, credential);
  if (verdict == LoginVerdict::Admit) {
    owner_ = {admission_.profile(), peer_.text, admission_.principal(), admission_.command()};
    deadlines_.admitted();
    deadlines_.used(monotonic_now());
    ::alarm(0);  // the backup of the grace time, set by main
    is_login_untold_ = true;
  }
  // Clients ask for the none method to learn what else there is: its refusal says something only where it is a way in.
  if (verdict == LoginVerdict::Refuse && (proof != Proof::None || access_.open)) was_refused_ = true;
  if (admission_.exhausted())
    log_line(Severity::Warning, "sshd.login_refused",
             {{"user", std::string(user.substr(0, 64))}, {"peer", peer_.text}});
  return verdict;
}

// After the turn in which the peer has got its answer, and before any jail is asked for.
void Connection::tell_login() {
  is_login_untold_ = false;
  // Nobody may listen any more; then there is nothing to tell.
  (void)!::write(report_.get(), &kPeerIsAdmitted, sizeof kPeerIsAdmitted);
  report_.reset();
  log_line(Severity::Info, "sshd.login",
           {{"profile", owner_.profile}, {"principal", owner_.principal}, {"peer", peer_.text}});
}

ssh_channel Connection::on_channel_open() {
  transport_->note_callback();
  if (!admission_.admitted() || channels_.size() >= kMostChannels) return nullptr;
  auto channel = Channel::open(*transport_);
  if (!channel) return nullptr;
  channels_.push_back(std::move(channel));
  return channels_.back()->handle();
}

void Connection::on_service(std::string_view name) {
  transport_->note_callback();
  if (name != "ssh-userauth") leave_for("no such service", SessionEnd::BadProtocol);
}

}  // namespace mayfly
