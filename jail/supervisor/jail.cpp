#include "jail/supervisor/jail.h"

#include <sys/epoll.h>

#include <algorithm>
#include <csignal>

#include "jail/os/clock.h"
#include "jail/os/log.h"
#include "jail/supervisor/fixed_message.h"
#include "jail/supervisor/plan_maker.h"
#include "jail/supervisor/step_failed.h"
#include "jail/supervisor/timers.h"

namespace mayfly {

namespace {

constexpr std::uint32_t kInitUid = 1, kRelayUid = 3;  // within a slot's block (spec/limits.h)

Step step_of(std::uint32_t number) { return number < kStepCount ? static_cast<Step>(number) : Step::None; }

bool goes_to_terminal(int number) { return number == SIGINT || number == SIGQUIT || number == SIGTSTP; }

}  // namespace

Jail::Jail(Surroundings& around, Spec spec, PeerFds peer, Lessee lessee)
    : around_(around),
      spec_(std::move(spec)),
      lessee_(lessee),
      asked_(monotonic_now()),
      peer_(std::move(peer)),
      relay_(around.loop, *this, around.open_process),
      limit_timer_(around.loop),
      cpu_timer_(around.loop),
      oom_timer_(around.loop),
      stage_timer_(around.loop),
      drain_timer_(around.loop),
      news_timer_(around.loop) {}

bool Jail::advance(Event event) {
  const std::optional<Phase> to = next(phase_, event);
  if (!to) {
    log_line(Severity::Error, "jail.out_of_order",
             {{"jail", spec_.id.text()},
              {"phase", std::string(name(phase_))},
              {"event", std::to_string(static_cast<int>(event))}},
             "ignored; please report it");
    return false;
  }
  phase_ = *to;
  return true;
}

void Jail::build(std::uint32_t slot) {
  if (!advance(Event::Admitted)) return;
  slot_ = slot;
  admitted_ = monotonic_now();
  findings_.metrics.queued = std::chrono::duration_cast<Milliseconds>(admitted_ - asked_);
  limit_timer_.set(kBuildLimit, [this] { end(failed_at(Step::None, ETIMEDOUT, "was not at its gate in time")); });
  if (const Expected<void> made = assemble(); !made) {
    log_line(Severity::Error, "jail.not_assembled", {{"jail", spec_.id.text()}, {"error", made.error().text()}},
             "run \"mayfly doctor\"");
    end(failed_by(made.error()));
  }
}

// The builder is told first: cloning takes longer than forking a relay, and both happen at once.
Expected<void> Jail::assemble() {
  const bool prepared = around_.builder.prepare();
  group_ = TRY(around_.groups.make(*slot_, group_limits(spec_.limits)));
  if (group_.made_ahead()) findings_.metrics.made_ahead.emplace_back("cgroup");
  SocketPair gate = TRY(make_seqpacket_pair(Blocking::No));
  SocketPair stream = TRY(make_seqpacket_pair(Blocking::No));
  SocketPair control = TRY(make_seqpacket_pair(Blocking::No));
  TRY(set_pass_credentials(gate.ours.get()));
  gate_ = TRY(Watched::make(around_.loop, std::move(gate.ours), EPOLLIN, [this](std::uint32_t) { read_gate(); }));
  TRY(order_build(std::move(gate.theirs), std::move(stream.ours), prepared));
  TRY(relay_.adopt(std::move(control.ours)));
  TRY(order_relay(std::move(control.theirs), std::move(stream.theirs)));
  return watch_memory();
}

Expected<void> Jail::order_build(Fd gate, Fd stream, bool prepared) {
  Plan plan;
  const PlanPlace place{*slot_, spec_.bind_row, group_.kind(), group_.attach_fds().size(), peer_.payload_bytes};
  TRY(make_plan(spec_, place, plan));
  if (around_.groups.controller(Control::Processes).expected != Measured::Rlimit)
    plan.processes = rlimit_behind_group(spec_.limits.processes);
  plan.prepared = prepared ? 1 : 0;
  std::vector<int> fds{gate.get(), stream.get()};
  if (peer_.payload) fds.push_back(peer_.payload.get());
  fds.insert(fds.end(), group_.attach_fds().begin(), group_.attach_fds().end());
  std::vector<Fd> given;
  given.reserve(3);
  given.push_back(std::move(gate));
  given.push_back(std::move(stream));
  given.push_back(std::move(peer_.payload));
  TRY(around_.builder.send(plan, fds, std::move(given)));
  plan_sent_ = true;
  return {};
}

Expected<void> Jail::order_relay(Fd control, Fd stream) {
  RelayOrder order;
  const std::string id = spec_.id.text();
  std::copy_n(id.begin(), std::min(id.size(), sizeof order.jail - 1), order.jail);
  order.rootless = around_.rootless ? 1 : 0;
  order.init_uid = around_.rootless ? 0 : around_.uid_base + kUidsPerSlot * *slot_ + kInitUid;
  order.relay_uid = around_.rootless ? 0 : around_.uid_base + kUidsPerSlot * *slot_ + kRelayUid;
  order.terminal = spec_.terminal == Terminal::Wanted ? 1 : 0;
  order.has_err = peer_.err ? 1 : 0;
  order.has_in = peer_.in ? 1 : 0;
  order.make_ahead = around_.make_ahead ? 1 : 0;
  order.last_line = spec_.origin == OriginKind::Ssh ? 1 : 0;
  order.output_kept = spec_.limits.output_kept.count;
  order.output_ceiling = spec_.limits.output_ceiling.count;
  order.wall_ms = static_cast<std::uint64_t>(spec_.limits.wall.count());
  order.idle_ms = static_cast<std::uint64_t>(spec_.limits.idle.count());
  std::vector<Fd> given;
  given.reserve(5);
  for (Fd* fd : {&control, &stream, &peer_.out, &peer_.err, &peer_.in})
    if (*fd) given.push_back(std::move(*fd));
  std::vector<int> fds;
  fds.reserve(given.size());
  for (const Fd& fd : given) fds.push_back(fd.get());
  return around_.witness.send(order, fds, std::move(given));
}

Expected<void> Jail::watch_memory() {
  if (group_.oom_fd() < 0) return {};
  return oom_.watch(around_.loop, group_.oom_fd(), group_.oom_interest(), [this](std::uint32_t) { look_for_oom(); });
}

// Always asked when its descriptor fires, also while ending: that is what makes it quiet again.
void Jail::look_for_oom() {
  const OomSign sign = group_.look_for_oom();
  if (sign == OomSign::Struck) end(ended_as(Ending::MemoryLimit));
  if (sign == OomSign::Pending && oom_looks_++ < kOomLooks) oom_timer_.set(kOomSecondLook, [this] { look_for_oom(); });
  if (sign == OomSign::None) oom_looks_ = 0;
}

void Jail::builder_says(const BuilderReply& reply, Fd pidfd) {
  if (reply.says == BuilderSays::Released) {
    released_told_ = true;
    if (phase_ == Phase::Recorded) release();
    return;
  }
  if (build_answered_) return;  // a second answer is worth nothing
  build_answered_ = true;
  if (reply.says == BuilderSays::Cloned) return cloned(reply, std::move(pidfd));
  released_told_ = true;                            // nothing of it is left
  if (phase_ == Phase::Recorded) return release();  // an answer that came too late for its jail
  end(failed_at(step_of(reply.step), reply.error));
  if (stage_ == Stage::AwaitBuilder) after_death();
}

void Jail::cloned(const BuilderReply& reply, Fd pidfd) {
  pid1_ = reply.pid;
  had_pid1_ = true;
  std::vector<std::string>& ahead = findings_.metrics.made_ahead;
  if (reply.parts_made_ahead != 0) ahead.insert(ahead.begin(), {"network", "root"});
  for (std::size_t i = 0; i < kOutsideSteps.size(); ++i)
    findings_.metrics.step_us[static_cast<std::size_t>(kOutsideSteps[i])] = reply.outside_us[i];
  Expected<Watched> watched =
      Watched::make(around_.loop, std::move(pidfd), EPOLLIN, [this](std::uint32_t) { pid1_ended(); });
  if (!watched) {  // without its pidfd we can neither kill it nor see it dead: closing its gate makes inside end
    gate_.reset();
    end(failed_by(watched.error()));
    if (stage_ == Stage::AwaitBuilder) after_death();
    return;
  }
  pidfd_ = std::move(*watched);
  if (stage_ == Stage::AwaitBuilder) return strike();
  relay_.attach(pidfd_.get(), group_.kill_fd(), group_.kill_text());
  group_.read_back();  // while inside builds: there is time
  judge_gate();
}

void Jail::builder_gone() {
  builder_lost_ = true;
  if (phase_ == Phase::Recorded) return await_release();  // nobody will tell any more
  if (!plan_sent_ || build_answered_ || phase_ >= Phase::Closed) return;
  end(failed_at(Step::Clone, 0, "the builder died while it built this jail"));
  if (stage_ != Stage::AwaitBuilder) return;
  // Inside holds the other end of the gate: when that is closed nothing of the jail runs.
  if (gate_over_) return after_death();
  stage_timer_.set(kSilenceLimit, [this] { after_death(); });
}

void Jail::read_gate() {
  for (int i = 0; i < kFramesPerTurn; ++i)
    if (!read_gate_once()) return;
}

bool Jail::read_gate_once() {
  if (!gate_ || gate_over_) return false;
  Expected<Received> received = receive_message(gate_.get(), sizeof(GateMessage), 0);
  if (!received && received.error().error == EAGAIN) return false;
  GateMessage message;
  if (!received || received->closed || !read_fixed(*received, message)) {
    gate_closed();
    return false;
  }
  gate_says(message, received->sender);
  return true;
}

void Jail::gate_says(const GateMessage& message, pid_t sender) {
  switch (message.says) {
    case GateSays::StepFailed:
      return end(after_failed_step(spec_, message));
    case GateSays::Placed:
      return placed(message, sender);
    case GateSays::AtGate:
      if (phase_ != Phase::Building || at_gate_) return;
      if (!placed_ || sender != program_) return end(failed_at(Step::Gate, EBADMSG));
      at_gate_ = true;
      proof_ = message;
      return judge_gate();
    case GateSays::Ended:
      // The program's process has no gate any more once it runs; what it starts never had one.
      if (sender != pid1_) return;
      if (message.cpu_us > INT64_MAX) return end(failed_at(Step::None, EBADMSG));
      findings_.disk_full = message.disk_full != 0;
      findings_.inodes_used = message.inodes_full != 0;
      if (!findings_.metrics.cpu.value)
        findings_.metrics.cpu.value = Microseconds{static_cast<std::int64_t>(message.cpu_us)};
      ends_itself_ = true;
      if (phase_ == Phase::Running) return end(from_wait_status(message.wait_status));
      return end(failed_at(Step::Gate, 0, "the program ended before its gate was opened"));
  }
  end(failed_at(Step::None, EBADMSG));
}

void Jail::gate_closed() {
  gate_.quiet();
  gate_over_ = true;
  if (stage_ == Stage::AwaitBuilder && builder_lost_) return after_death();
  if (phase_ >= Phase::Ending) return;
  // Its pidfd, or the builder's answer, will tell what happened.
  stage_timer_.set(kSilenceLimit, [this] { end(failed_at(Step::None, 0, "its first process closed the gate")); });
}

// What is found wrong is told at the gate, with the times of all steps.
void Jail::placed(const GateMessage& message, pid_t sender) {
  if (phase_ != Phase::Building || placed_) return;
  program_ = sender;
  placed_ = around_.measure.placed({program_, *slot_, message, spec_, group_, around_.builder.facts()});
}

Expected<Controls> Jail::measure_at_gate() const {
  const Controls first = TRY(*placed_);
  return around_.measure.at_gate({program_, *slot_, proof_, spec_, group_, around_.builder.facts()}, first);
}

void Jail::judge_gate() {
  if (phase_ != Phase::Building || !at_gate_ || !attached_ || !pidfd_) return;
  if (!advance(Event::Built)) return;
  for (std::size_t i = 0; i < kStepCount; ++i)
    if (proof_.step_us[i] != 0) findings_.metrics.step_us[i] = proof_.step_us[i];
  const Expected<Controls> measured = measure_at_gate();
  if (!measured) {
    log_line(Severity::Error, "jail.not_as_asked", {{"jail", spec_.id.text()}, {"found", measured.error().text()}},
             "run \"mayfly doctor\"");
    return end(failed_at(Step::Gate, measured.error().error, "a control is not as it was asked for"));
  }
  controls_ = *measured;
  if (const std::optional<Control> missing = controls_.first_missing(spec_.require))
    return end(refused_without(*missing));
  open_gate();
}

void Jail::signal(int number) {
  if (phase_ != Phase::Running) return;
  if (spec_.terminal == Terminal::Wanted && goes_to_terminal(number)) return relay_.signal(number);
  GateCommand command;
  command.order = GateOrder::Signal;
  command.signal_number = number;
  // EAGAIN: the peer sends more than init takes; the surplus is dropped.
  (void)send_message(gate_.get(), bytes_of(command), {});
}

void Jail::resize(TerminalSize size) {
  spec_.size = size;
  if (phase_ < Phase::Ending && relay_.is_open()) relay_.resize(size);
}

}  // namespace mayfly
