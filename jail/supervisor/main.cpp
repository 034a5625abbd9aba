// mayfly-supervisor: decides (design section 2). Started by the keeper with the descriptors of wire/startup.h and
// nothing else; ends when it is told to, or when the keeper is gone.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>

#include "jail/os/log.h"
#include "jail/os/memfd.h"
#include "jail/supervisor/confinement.h"
#include "jail/supervisor/host_side.h"
#include "jail/supervisor/stale.h"
#include "jail/supervisor/supervisor.h"
#include "jail/wire/startup.h"

namespace mayfly {
namespace {

// What we were started with stays ours: it must not reach a program that anybody execs.
Fd given(int number) {
  if (::fcntl(number, F_SETFD, FD_CLOEXEC) != 0) return {};
  return Fd(number);
}

SupervisorDoors take_doors(const SupervisorConfig& config) {
  SupervisorDoors doors;
  doors.keeper_pidfd = given(kKeeperPidfd);
  doors.keeper = given(kSupervisorKeeper);
  doors.builder = given(kSupervisorBuilder);
  doors.witness = given(kSupervisorWitness);
  doors.lease = given(kSupervisorLease);
  if (!config.private_engine) doors.monitor = given(kSupervisorMonitor);
  return doors;
}

Expected<SupervisorConfig> read_config() { return read_supervisor_config(given(kSupervisorConfig)); }

// SIGTERM comes as an event. The terminal's signals are the keeper's to judge: `mayfly run` shares its group with us.
Expected<Fd> take_signals() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  if (::sigprocmask(SIG_BLOCK, &stop, nullptr) != 0) return failure("block SIGTERM", errno);
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE, SIGTSTP})
    if (::signal(number, SIG_IGN) == SIG_ERR) return failure("ignore signal", errno, std::to_string(number));
  Fd signals(::signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return failure("make signal descriptor", errno);
  return signals;
}

// A thousand live jails are some fifteen thousand descriptors; the usual soft limit is 1024.
Expected<void> raise_descriptor_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return failure("read descriptor limit", errno);
  files.rlim_cur = files.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &files) != 0) return failure("raise descriptor limit", errno);
  return {};
}

Expected<void> serve() {
  const SupervisorConfig config = TRY(read_config());
  set_log_threshold(config.log_level);
  SupervisorDoors doors = take_doors(config);
  const Fd uid_lock = given(kSupervisorUidLock);  // held: our uids are ours as long as we live
  const Fd signals = TRY(take_signals());
  TRY(raise_descriptor_limit());
  HostSide host = TRY(make_host_side(config));
  TRY(lock_down(confinement::supervisor()));
  CgroupHost& groups = *host.groups;
  if (!config.private_engine) clean_stale_instances(config.run_directory, config.instance, groups);

  EventLoop loop = TRY(EventLoop::make());
  const auto supervisor = TRY(Supervisor::make(loop, config, std::move(doors), std::move(host)));
  TRY(loop.watch(signals.get(), EPOLLIN, [&](std::uint32_t) {
    signalfd_siginfo info{};
    if (::read(signals.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) supervisor->stop();
  }));
  TRY(loop.run());
  // A one-shot engine tidies up after its peer has been served, not before.
  if (config.private_engine) clean_stale_instances(config.run_directory, config.instance, groups);
  return {};
}

}  // namespace
}  // namespace mayfly

int main() {
  const mayfly::Expected<void> served = mayfly::serve();
  if (served) return 0;
  mayfly::log_failure("supervisor.failed", served.error());
  return 1;
}
