#include "jail/witness/relay.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "jail/os/clock.h"
#include "jail/witness/peer_fd.h"

namespace mayfly {

Relay::Relay(RelayJob job, Liveness liveness, RelayMemory& memory)
    : order_(job.order),
      liveness_(liveness),
      memory_(memory),
      control_(std::move(job.control)),
      stream_(std::move(job.stream)),
      reporter_(control_, memory.report),
      budget_(job.order.output_ceiling),
      outs_{OutStream{std::move(job.out), job.order.output_kept, memory.out, memory.out_tail},
            OutStream{std::move(job.err), job.order.output_kept, memory.err, memory.err_tail}},
      in_(std::move(job.in), job.order.terminal == 1 ? JailSide::Terminal : JailSide::Pipe, memory.in) {}

void Relay::run() {
  if (!prepare_peers()) return;
  while (stage_ != Stage::Over) {
    watch();
    polls_.wait(patience());
    now_ = monotonic_now();
    if (must_die()) return die();
    reporter_.flush();
    if (polls_.at(places_.stream) != 0) take_streams();
    if (polls_.at(places_.control) != 0) take_commands();
    if (polls_.at(places_.jail) != 0) drain();
    pump();
    keep_time();
  }
}

bool Relay::prepare_peers() {
  const char* trouble = nullptr;
  for (OutStream& out : outs()) {
    if (trouble == nullptr) trouble = out.prepare_sink();
  }
  if (trouble == nullptr) trouble = in_.prepare_source();
  if (trouble == nullptr) return true;
  reporter_.say(RelaySays::Broken, EINVAL, trouble);
  return false;
}

void Relay::watch() {
  polls_.clear();
  places_.keeper = polls_.add(liveness_.keeper, POLLIN);
  places_.supervisor = polls_.add(liveness_.supervisor, POLLIN);
  places_.control = polls_.add(control_.get(), reporter_.pending() ? POLLIN | POLLOUT : POLLIN);
  places_.stream = polls_.add(stream_.get(), POLLIN);
  places_.jail = polls_.add(stage_ == Stage::Live ? kill_.pid_one() : -1, POLLIN);
  for (OutStream& out : outs()) out.watch(polls_);
  in_.watch(polls_);
}

// Milliseconds until the next thing that time brings, rounded up; -1: nothing.
int Relay::patience() {
  const Microseconds next = std::min({idle_at_, backup_at_, stall_at_, in_.deadline()});
  if (next == InStream::kNever) return -1;
  const Microseconds left = next - monotonic_now();
  constexpr Milliseconds kLongest = 1_min;  // then look again
  return static_cast<int>(std::clamp(std::chrono::ceil<Milliseconds>(left), 0_ms, kLongest).count());
}

bool Relay::must_die() const { return polls_.at(places_.keeper) != 0 || polls_.at(places_.supervisor) != 0; }

void Relay::die() {
  if (stage_ == Stage::Live) {
    arm_late();
    static_cast<void>(kill_.pull());  // dead already is as good
  }
  stage_ = Stage::Over;
}

void Relay::take_streams() {
  StreamsMessage message;
  FdList fds;
  const Arrival arrival = receive_fixed(stream_.get(), &message, sizeof message, fds);
  if (arrival == Arrival::Nothing) return;
  stream_.reset();  // it speaks once
  // Inside died before it had streams: the supervisor knows that from the gate.
  if (arrival == Arrival::Closed) return;
  const bool sound = arrival == Arrival::Message && message.magic == StreamsMessage::kMagic &&
                     message.count == fds.count && message.count == (order_.terminal == 1 ? 1u : 3u);
  const char* trouble = sound ? attach(fds) : "the streams from inside do not follow the contract";
  if (trouble != nullptr) return reporter_.say(RelaySays::Broken, EPROTO, trouble);
  reporter_.say(RelaySays::Attached);
}

const char* Relay::attach(FdList& list) {
  auto& fds = list.fds;
  if (order_.terminal == 1) {
    if (const char* trouble = prepare_master(fds[0])) return trouble;
    Fd writer{::fcntl(fds[0].get(), F_DUPFD_CLOEXEC, 0)};
    if (!writer) return "the master of a pty cannot be duplicated";
    in_.attach(std::move(writer));
    outs_[0].attach(std::move(fds[0]));
    resize();
    return nullptr;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (const char* trouble = prepare_jail_pipe(fds[i], i == 0 ? Direction::Write : Direction::Read)) return trouble;
  }
  in_.attach(std::move(fds[0]));
  outs_[0].attach(std::move(fds[1]));
  outs_[1].attach(std::move(fds[2]));
  return nullptr;
}

void Relay::pump() {
  std::size_t given = 0;
  for (OutStream& out : outs()) given += out.pump(polls_, budget_);
  const bool heard = in_.pump(polls_);
  if (given > 0 && stage_ == Stage::Delivering) stall_at_ = now_ + kDeliverStall;
  if (heard && idle_at_ != InStream::kNever) idle_at_ = now_ + Milliseconds{static_cast<std::int64_t>(order_.idle_ms)};
  memory_.report.in_bytes = in_.passed_in();
  if (stage_ != Stage::Live) return;
  if (budget_.exceeded() && !ceiling_said_) {
    ceiling_said_ = true;
    reporter_.say(RelaySays::Ceiling);
  }
  if (every_sink_gone() && !peer_gone_said_) {
    peer_gone_said_ = true;
    if (order_.terminal == 1) in_.close_jail_side();  // the last copy of the master: the jail's session is hung up
    reporter_.say(RelaySays::PeerGone);
  }
}

bool Relay::every_sink_gone() const {
  return outs_[0].sink_gone() && outs_[1].sink_gone();  // a terminal has no second one from the start
}

}  // namespace mayfly
