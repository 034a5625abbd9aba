#include "sshd/session/channel.h"

#include <algorithm>

#include "jail/os/log.h"
#include "jail/spec/ending.h"

namespace mayfly {

namespace {

constexpr int kOwnFailure = 125;
constexpr Milliseconds kStreamsAfterEngine{3000};  // every jail is gone within 2 s of its supervisor

Request request_of(const SessionOwner& owner, std::optional<TerminalRequest> terminal) {
  Request request;
  request.origin = OriginKind::Ssh;
  request.peer = owner.peer;
  request.principal = owner.principal;
  request.profile = owner.profile;
  request.terminal = std::move(terminal);
  request.queue_ms = static_cast<std::uint64_t>(kExecQueueWait.count());
  return request;
}

}  // namespace

std::unique_ptr<Channel> Channel::open(Transport& transport) {
  auto port = ChannelPort::open(transport);
  if (!port) return nullptr;
  return std::unique_ptr<Channel>(new Channel(transport, std::move(port)));
}

bool Channel::has_live_run() const {
  return phase_ == ChannelPhase::Asked || phase_ == ChannelPhase::Running || phase_ == ChannelPhase::Abandoned;
}

bool Channel::may_pump() const { return phase_ == ChannelPhase::Running || phase_ == ChannelPhase::Over; }

void Channel::advance(SupervisorClient& client, const SessionOwner& owner, Microseconds now) {
  if (port_->peer_closed()) note_peer_close(client);
  if (phase_ == ChannelPhase::Idle && port_->wishes().start) begin(client, owner);
  if (phase_ == ChannelPhase::Asked || phase_ == ChannelPhase::Running) pass_wishes(client);
  pump(now);
  if (phase_ == ChannelPhase::Running && shell_limits_) warn(now);
  if (phase_ == ChannelPhase::Over && out_.is_done() && err_.is_done()) say_unsaid(now);
  if (phase_ == ChannelPhase::Over && out_.is_done() && err_.is_done()) finish();
}

void Channel::warn(Microseconds now) {
  if (!warnings_) warnings_.emplace(*shell_limits_, now);
  warnings_->given_input(in_.delivered(), now);
  const Warning warning = warnings_->due(now);
  if (warning == Warning::Nothing) return;
  out_.say(warning == Warning::WallLimit ? wall_warning(kWarningLead, line_end())
                                         : idle_warning(shell_limits_->idle - kWarningLead, kWarningLead, line_end()));
  out_.pump(*port_, transport_);
}

void Channel::say_unsaid(Microseconds now) {
  if (unsaid_.empty() || (!engine_gone_ && out_.from_jail() + err_.from_jail() != 0)) return;
  err_.say(std::exchange(unsaid_, std::string()));
  pump(now);
}

void Channel::begin(SupervisorClient& client, const SessionOwner& owner) {
  shell_ = *port_->wishes().start == Start::Shell && !owner.command;
  terminal_ = port_->wishes().terminal.has_value();
  phase_ = ChannelPhase::Asked;
  if (auto asked = ask(client, owner); !asked) {
    log_failure("sshd.jail_not_asked_for", asked.error());
    end_refused(engine_gone(line_end()));
  }
}

Expected<void> Channel::ask(SupervisorClient& client, const SessionOwner& owner) {
  Wishes& wishes = port_->wishes();
  if (terminal_ && wishes.resize) wishes.terminal->size = *std::exchange(wishes.resize, std::nullopt);
  RunStreams streams = TRY(make_run_streams(terminal_ ? WithStderr::No : WithStderr::Yes, WithStdin::Yes));
  PayloadBuilder payload;
  if (!shell_) payload.add(PayloadKind::Command, owner.command ? *owner.command : wishes.command);
  wishes.command = std::string();
  run_ = TRY(client.open(request_of(owner, std::move(wishes.terminal)), std::move(payload), std::move(streams.peer)));
  out_.connect(std::move(streams.own.out));
  if (!terminal_) err_.connect(std::move(streams.own.err));
  in_.connect(std::move(streams.own.in));
  port_->attach(&in_);
  return {};
}

// A word that cannot be sent now is lost like a signal to a busy process; that the supervisor is gone shows when
// reading.
void Channel::pass_wishes(SupervisorClient& client) {
  Wishes& wishes = port_->wishes();
  if (terminal_ && wishes.resize) (void)client.resize(*run_, *wishes.resize);
  wishes.resize.reset();
  if (wishes.signals.none()) return;
  for (std::size_t number = 1; number < wishes.signals.size(); ++number)
    if (wishes.signals.test(number)) (void)client.signal(*run_, static_cast<int>(number));
  wishes.signals.reset();
}

void Channel::note_peer_close(SupervisorClient& client) {
  if (phase_ == ChannelPhase::Closed || phase_ == ChannelPhase::Abandoned) return;
  const bool live = has_live_run();
  if (live) (void)client.cancel(*run_, Ending::Disconnected);
  out_.drop_all();
  err_.drop_all();
  in_.drop();
  port_->close();
  phase_ = live ? ChannelPhase::Abandoned : ChannelPhase::Closed;
}

void Channel::pump(Microseconds now) {
  // Our own words about the queue come before the jail has any.
  if (phase_ == ChannelPhase::Asked) err_.pump(*port_, transport_);
  if (!may_pump()) return;
  in_.pump(*port_);
  out_.pump(*port_, transport_);
  err_.pump(*port_, transport_);
  if (phase_ == ChannelPhase::Over) give_up_late(now);
}

void Channel::give_up_late(Microseconds now) {
  const std::uint64_t delivered = out_.delivered() + err_.delivered();
  if (!progress_at_ || delivered != delivered_) {
    delivered_ = delivered;
    progress_at_ = now;
  } else if (now - *progress_at_ > kDeliverStall) {
    out_.drop_all();
    err_.drop_all();
  }
  if (streams_until_ && now > *streams_until_) {
    streams_until_.reset();
    out_.drop_source();
    err_.drop_source();
  }
}

std::optional<Microseconds> Channel::deadline() const {
  if (phase_ == ChannelPhase::Running && warnings_) return warnings_->next();
  if (phase_ != ChannelPhase::Over || !progress_at_) return std::nullopt;
  const Microseconds stalled = *progress_at_ + kDeliverStall;
  return (streams_until_ ? std::min(*streams_until_, stalled) : stalled) + Milliseconds(1);
}

void Channel::finish() {
  in_.drop();
  if (!exit_signal_.empty())
    port_->end_with_signal(exit_signal_);
  else
    port_->end_with_status(exit_status_.value_or(kOwnFailure));
  phase_ = ChannelPhase::Closed;
}

void Channel::end_refused(std::string text) {
  out_.drop_source();
  err_.drop_source();
  err_.say(text);
  exit_status_ = kOwnFailure;
  phase_ = ChannelPhase::Over;
}

void Channel::receive(const FromSupervisor& message) {
  if (phase_ == ChannelPhase::Abandoned) {
    if (std::holds_alternative<Ended>(message) || std::holds_alternative<Refused>(message))
      phase_ = ChannelPhase::Closed;
    return;
  }
  if (!has_live_run()) return;
  if (const auto* queued = std::get_if<Queued>(&message)) on(*queued);
  if (const auto* running = std::get_if<Running>(&message)) on(*running);
  if (const auto* refused = std::get_if<Refused>(&message)) on(*refused);
  if (const auto* ended = std::get_if<Ended>(&message)) on(*ended);
}

void Channel::on(const Queued& queued) {
  if (terminal_ && phase_ == ChannelPhase::Asked) err_.say(queue_notice(queued, line_end()));
}

void Channel::on(const Running& running) {
  if (phase_ != ChannelPhase::Asked) return;
  phase_ = ChannelPhase::Running;
  ran_ = true;
  if (!shell_ || !terminal_) return;
  out_.say(greeting(running, line_end()));
  shell_limits_ = running.limits;
}

void Channel::on(const Refused& refused) { end_refused(refusal(refused, line_end())); }

void Channel::on(const Ended& ended) {
  const Result& result = ended.result;
  exit_status_ = reserved_exit_status(result.ending);
  if (result.ending == Ending::Exited) exit_status_ = result.exit_code.value_or(kOwnFailure);
  if (result.ending == Ending::Signalled && result.signal_number) {
    exit_signal_ = signal_name(*result.signal_number);
    if (exit_signal_.starts_with("SIG")) exit_signal_.erase(0, 3);
  }
  const bool own_end = result.ending == Ending::Exited || result.ending == Ending::Signalled;
  if (own_end && result.output_incomplete) {  // bytes are missing: never a success
    exit_status_ = kOwnFailure;
    exit_signal_.clear();
  }
  phase_ = ChannelPhase::Over;
  // The relay writes the reason line behind the program's output. A jail that never ran may have had none: then no byte
  // comes, and the line is ours to say once the streams have ended.
  if (!ran_ && reserved_exit_status(result.ending)) unsaid_ = last_word(result, line_end());
}

// The relays die with their supervisor and close the streams; what they still had is passed on.
void Channel::engine_is_gone(Microseconds now) {
  if (phase_ == ChannelPhase::Abandoned) phase_ = ChannelPhase::Closed;
  if (phase_ != ChannelPhase::Asked && phase_ != ChannelPhase::Running) return;
  phase_ = ChannelPhase::Over;
  exit_status_ = kOwnFailure;
  engine_gone_ = true;
  unsaid_ = engine_gone(line_end());
  streams_until_ = now + kStreamsAfterEngine;
}

void Channel::add_interest(std::vector<pollfd>& entries) const {
  if (!may_pump()) return;
  if (out_.wants_source(*port_, transport_)) entries.push_back({out_.descriptor(), POLLIN, 0});
  if (err_.wants_source(*port_, transport_)) entries.push_back({err_.descriptor(), POLLIN, 0});
  if (in_.wants_sink(*port_)) entries.push_back({in_.descriptor(), POLLOUT, 0});
}

}  // namespace mayfly
