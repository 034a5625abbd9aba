// The keeper's processes: started, reaped, started anew.
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "jail/cli/keeper.h"
#include "jail/os/clock.h"
#include "jail/os/log.h"
#include "jail/os/unix_socket.h"
#include "jail/spec/ending.h"

namespace mayfly {

namespace {

constexpr Milliseconds kJailsDieWithin = 2500_ms;  // after the supervisor; their own watch ends them within 2 s
constexpr Milliseconds kRebuildLimit = 5_s;
constexpr Milliseconds kLastWords = 1500_ms;  // for sessions and relays to hand out what a peer is still reading

constexpr int kTaskTries = 4;

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return signal_name(WTERMSIG(status));
  return "exit " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Expected<void> Keeper::start_everything() {
  instance_.may_leave_cgroups();
  Core core = TRY(start_core(programs_, descriptors()));
  const Microseconds now = monotonic_now();
  for (Kept* kept : {&supervisor_, &builder_, &witness_}) kept->pace.started(now);
  channel_ = std::move(core.channel);
  supervisor_.child.emplace(std::move(core.supervisor));
  builder_.child.emplace(std::move(core.builder));
  witness_.child.emplace(std::move(core.witness));
  mode_ = Mode::Running;
  for (std::size_t i = 0; i < front_ends_.size(); ++i) TRY(start_front_end(i));
  log_line(Severity::Info, "keeper.started", {{"supervisor", std::to_string(supervisor_.child->pid())}});
  return {};
}

// The supervisor hears the pid before the program exists: nothing else can connect under it.
Expected<void> Keeper::start_front_end(std::size_t index) {
  const FrontEnd& front_end = front_ends_[index];
  Kept& kept = front_end_processes_[index];
  Child child = TRY(start_apart(front_end.program));
  kept.pace.started(monotonic_now());
  kept.child.emplace(std::move(child));
  if (!tell(KeeperSays::FrontEnd, &front_end, kept.child->pid(), -1))
    return {};  // the supervisor is gone; SIGCHLD follows
  return kept.child->go();
}

bool Keeper::tell(KeeperSays what, const FrontEnd* front_end, pid_t pid, int fd) {
  KeeperMessage message;
  message.says = what;
  message.pid = pid;
  if (front_end != nullptr) {
    message.role = front_end->role;
    message.uid = front_end->uid;
  }
  const std::span<const int> fds = fd >= 0 ? std::span<const int>(&fd, 1) : std::span<const int>();
  auto sent = send_message(channel_.get(), std::as_bytes(std::span(&message, 1)), fds);
  if (!sent && sent.error().error != EPIPE) log_failure("keeper.supervisor_deaf", sent.error());
  return sent.has_value();
}

Expected<void> Keeper::restart_core_part(KeeperSays what) {
  const bool is_builder = what == KeeperSays::NewBuilder;
  Kept& kept = is_builder ? builder_ : witness_;
  Restarted made = TRY(is_builder ? start_builder(programs_, descriptors(), supervisor_.child->pidfd())
                                  : start_witness(programs_, descriptors(), supervisor_.child->pidfd()));
  kept.child.emplace(std::move(made.child));
  kept.pace.started(monotonic_now());
  tell(what, nullptr, kept.child->pid(), made.control.get());
  return {};
}

// Takes exactly what has ended: looks first (WNOWAIT), so that a process of the table is reaped by its own Child.
void Keeper::reap() {
  for (;;) {
    siginfo_t info{};
    const int done = ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT);
    if (done != 0 && errno == EINTR) continue;
    if (done != 0) return nothing_is_left();  // ECHILD: not even an adopted orphan
    if (info.si_pid == 0) return;
    process_ended(info.si_pid);
  }
}

void Keeper::process_ended(pid_t pid) {
  const auto take = [pid](Kept& kept) -> std::optional<int> {
    if (!kept.child || kept.child->pid() != pid) return std::nullopt;
    const int status = kept.child->wait().value_or(0);
    kept.child.reset();
    return status;
  };
  if (reader_ && reader_->pid() == pid) return settings_read(reader_->wait().value_or(1));
  if (const auto status = take(supervisor_)) return supervisor_ended(*status);
  if (const auto status = take(builder_))
    return part_ended(builder_, "mayfly-builder", *status,
                      [this] { return restart_core_part(KeeperSays::NewBuilder); });
  if (const auto status = take(witness_))
    return part_ended(witness_, "mayfly-witness", *status,
                      [this] { return restart_core_part(KeeperSays::NewWitness); });
  for (std::size_t i = 0; i < front_ends_.size(); ++i) {
    const auto status = take(front_end_processes_[i]);
    if (!status) continue;
    if (mode_ == Mode::Running) tell(KeeperSays::FrontEndGone, &front_ends_[i], pid, -1);
    if (front_ends_[i].kind == FrontEndKind::Task && !is_to_be_tried_again(front_end_processes_[i], *status)) return;
    return part_ended(front_end_processes_[i], front_ends_[i].name, *status, [this, i] { return start_front_end(i); });
  }
  siginfo_t orphan{};
  ::waitid(P_PID, static_cast<id_t>(pid), &orphan, WEXITED | WNOHANG);  // a relay, a pid 1, a session
}

// It has said itself what went wrong, if anything did.
bool Keeper::is_to_be_tried_again(Kept& task, int status) {
  if (status == 0) task.failures = 0;
  return status != 0 && ++task.failures < kTaskTries;
}

void Keeper::part_ended(Kept& kept, const std::string& name, int status, std::function<Expected<void>()> restart) {
  if (mode_ != Mode::Running) return;
  const Milliseconds wait = kept.pace.delay(monotonic_now());
  log_line(Severity::Warning, "keeper.process_died",
           {{"process", name}, {"how", how_it_ended(status)}, {"again_in_ms", std::to_string(wait.count())}});
  Kept* const which = &kept;
  kept.restart_is_due = true;
  loop_.after(wait, [this, which, name, restart = std::move(restart)] {
    if (mode_ != Mode::Running || !which->restart_is_due || which->child) return;
    which->restart_is_due = false;
    if (auto started = restart(); !started) {
      log_failure("keeper.start_failed", started.error());
      part_ended(*which, name, W_EXITCODE(127, 0), restart);
    }
  });
}

void Keeper::supervisor_ended(int status) {
  channel_.reset();
  if (mode_ == Mode::Stopping) {
    if (status == 0) instance_.leaves_nothing();
    signal_others(SIGTERM);
    loop_.after(kLastWords, [this] { kill_children(); });
    return;
  }
  log_line(Severity::Error, "keeper.supervisor_died", {{"how", how_it_ended(status)}},
           "its jails die within 2 s, then everything is started anew");
  mode_ = Mode::Rebuilding;
  for (Kept& kept : front_end_processes_) kept.restart_is_due = false;
  builder_.restart_is_due = witness_.restart_is_due = false;
  signal_others(SIGTERM);
  loop_.after(kJailsDieWithin, [this] {
    if (mode_ == Mode::Rebuilding && !supervisor_.restart_is_due) kill_children();
  });
  loop_.after(kRebuildLimit, [this] {
    if (mode_ == Mode::Rebuilding && !supervisor_.restart_is_due)
      give_up(Failure{"start anew after the supervisor's death", 0, {}, "processes of its jails could not be killed"});
  });
}

void Keeper::signal_others(int number) {
  for (Kept* kept : {&builder_, &witness_})
    if (kept->child) (void)kept->child->signal(SIGKILL);  // nothing is lost with them; live relays go on
  for (Kept& kept : front_end_processes_)
    if (kept.child) (void)kept.child->signal(number);
}

void Keeper::nothing_is_left() {
  if (mode_ == Mode::Stopping) return loop_.stop();
  if (mode_ != Mode::Rebuilding || supervisor_.restart_is_due) return;
  supervisor_.restart_is_due = true;
  loop_.after(supervisor_.pace.delay(monotonic_now()), [this] {
    if (mode_ == Mode::Rebuilding && supervisor_.restart_is_due) rebuild();
  });
}

void Keeper::rebuild() {
  supervisor_.restart_is_due = false;
  if (auto started = start_everything(); !started) return give_up(started.error());
  if (settings_) tell(KeeperSays::NewSettings, nullptr, 0, settings_.get());
}

}  // namespace mayfly
