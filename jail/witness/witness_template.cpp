#include "jail/witness/witness_template.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "jail/spec/limits.h"
#include "jail/witness/identity.h"
#include "jail/witness/poll_set.h"

namespace mayfly {
namespace {

void log_line(const char* line) {
  const ssize_t written = ::write(STDERR_FILENO, line, std::strlen(line));
  static_cast<void>(written);  // there is nowhere else to say it
}

const char* refusal(OrderVerdict verdict) {
  switch (verdict) {
    case OrderVerdict::Good:
      break;
    case OrderVerdict::BadMagic:
      return "mayfly-witness: witness.order_refused field=magic: not an order of this release\n";
    case OrderVerdict::BadFlags:
      return "mayfly-witness: witness.order_refused field=flags: 0 or 1, err with pipes only\n";
    case OrderVerdict::BadIds:
      return "mayfly-witness: witness.order_refused field=uids: two different ones, not root's\n";
    case OrderVerdict::BadTimes:
      return "mayfly-witness: witness.order_refused field=times: below 2^40 ms\n";
    case OrderVerdict::BadDescriptorCount:
      return "mayfly-witness: witness.order_refused field=descriptors: as many as the flags say\n";
  }
  return "";
}

// What the C library may say on its way to abort() goes to /dev/null (0), not to the keeper's terminal.
void speak_to_nobody() {
  ::dup2(STDIN_FILENO, STDOUT_FILENO);
  ::dup2(STDIN_FILENO, STDERR_FILENO);
}

RelayMemory& map_memory() {
  void* memory = ::mmap(nullptr, sizeof(RelayMemory), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) ::_exit(1);
  return *new (memory) RelayMemory;
}

}  // namespace

void ignore_signals() {
  for (const int number : {SIGCHLD, SIGPIPE, SIGINT, SIGQUIT, SIGTSTP, SIGHUP, SIGTERM}) ::signal(number, SIG_IGN);
}

int bound_resources() {
  constexpr rlim_t kDescriptors = 32;      // a relay has 12 and a message 8 more
  constexpr rlim_t kMemory = 32ull << 20;  // text, stack and less than 1 MiB of buffers
  constexpr rlimit kFew{kDescriptors, kDescriptors}, kSmall{kMemory, kMemory};
  if (::setrlimit(RLIMIT_NOFILE, &kFew) != 0) return errno;
#ifndef __SANITIZE_ADDRESS__  // which maps terabytes
  if (::setrlimit(RLIMIT_AS, &kSmall) != 0) return errno;
#endif
  static_cast<void>(kSmall);
  return 0;
}

void WitnessTemplate::run() {
  PollSet polls;
  while (true) {
    polls.clear();
    const PollSet::Place keeper = polls.add(fds_.keeper, POLLIN);
    const PollSet::Place supervisor = polls.add(fds_.supervisor, POLLIN);
    const PollSet::Place taken = polls.add(spare_.get(), POLLIN);
    const PollSet::Place control = polls.add(spare_ ? -1 : fds_.control, POLLIN);
    polls.wait(patience());
    if (polls.at(keeper) != 0 || polls.at(supervisor) != 0) return;
    if (polls.at(taken) != 0) {
      spare_.reset();
    } else if (polls.at(control) != 0) {
      RelayJob job;
      const Taken got = take_order(job);
      if (got == Taken::Closed) return;
      if (got == Taken::Job) start_relay(std::move(job));
    } else if (!spare_ && makes_ahead_) {
      make_spare();
    }
  }
}

// Milliseconds until the next spare: a fork while a jail is being built takes its processor from it.
int WitnessTemplate::patience() const {
  return makes_ahead_ && !spare_ ? static_cast<int>(kIdleBeforeRefill.count()) : -1;
}

WitnessTemplate::Taken WitnessTemplate::take_order(RelayJob& job) const {
  RelayOrder order;
  FdList list;
  const Arrival arrival = receive_fixed(fds_.control, &order, sizeof order, list);
  if (arrival == Arrival::Closed) return Taken::Closed;
  if (arrival == Arrival::Refused) {
    log_line("mayfly-witness: witness.order_refused field=size: not an order of this release\n");
  }
  if (arrival != Arrival::Message) return Taken::Nothing;
  const OrderVerdict verdict = judge(order, list.count);
  if (verdict == OrderVerdict::Good) {
    job = make_job(order, list);
    return Taken::Job;
  }
  log_line(refusal(verdict));  // its descriptors are closed, which the supervisor sees as a dead relay
  return Taken::Nothing;
}

void WitnessTemplate::start_relay(RelayJob job) {
  makes_ahead_ = job.order.make_ahead == 1;
  const pid_t child = ::_Fork();  // no handlers to run, no locks to take: this process has one thread and no heap
  if (child == 0) be_relay(std::move(job));
  if (child < 0)
    log_line("mayfly-witness: witness.fork_failed: this jail ends as failed; see the limit on processes\n");
}

void WitnessTemplate::make_spare() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return void(makes_ahead_ = false);
  Fd seen(ends[0]), untaken(ends[1]);
  const pid_t child = ::_Fork();
  if (child == 0) be_spare(std::move(untaken));
  if (child < 0) return void(makes_ahead_ = false);  // tried again after the next order
  spare_ = std::move(seen);
}

void WitnessTemplate::be_relay(RelayJob job) {
  speak_to_nobody();
  std::array own{STDIN_FILENO,      STDOUT_FILENO,    STDERR_FILENO, fds_.keeper,   fds_.supervisor, fds_.uid_lock,
                 job.control.get(), job.stream.get(), job.out.get(), job.err.get(), job.in.get()};
  keep_only(own);
  carry(std::move(job), map_memory());
}

// Everything that does not need the order is done before it comes.
void WitnessTemplate::be_spare(Fd untaken) {
  std::array own{STDIN_FILENO,    STDOUT_FILENO, STDERR_FILENO, fds_.keeper,
                 fds_.supervisor, fds_.uid_lock, fds_.control,  untaken.get()};
  keep_only(own);
  RelayMemory& memory = map_memory();
  memory.report.made_ahead = 1;
  PollSet polls;
  const PollSet::Place keeper = polls.add(fds_.keeper, POLLIN);
  const PollSet::Place supervisor = polls.add(fds_.supervisor, POLLIN);
  polls.add(fds_.control, POLLIN);
  RelayJob job;
  Taken got = Taken::Nothing;
  while (got == Taken::Nothing) {
    polls.wait(-1);
    if (polls.at(keeper) != 0 || polls.at(supervisor) != 0) ::_exit(0);
    got = take_order(job);
  }
  if (got == Taken::Closed) ::_exit(0);
  untaken.reset();
  ::close(fds_.control);
  speak_to_nobody();
  carry(std::move(job), memory);
}

void WitnessTemplate::carry(RelayJob job, RelayMemory& memory) const {
  if (become_relay(job.order) != 0) ::_exit(1);
  Relay relay{std::move(job), Liveness{fds_.keeper, fds_.supervisor}, memory};
  relay.run();
  ::_exit(0);
}

}  // namespace mayfly
