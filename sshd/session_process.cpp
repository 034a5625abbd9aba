#include "sshd/session_process.h"

#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "jail/os/child.h"
#include "jail/os/unix_socket.h"
#include "jail/wire/startup.h"

namespace mayfly {

namespace {

// Holds what posix_spawn wants; the two init calls only fill memory.
struct SpawnOrder {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  SpawnOrder() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  SpawnOrder(const SpawnOrder&) = delete;
  SpawnOrder& operator=(const SpawnOrder&) = delete;
  ~SpawnOrder() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
};

// dup2 onto itself takes CLOEXEC off (posix_spawn_file_actions_adddup2(3)); everything above is closed.
int order_descriptors(SpawnOrder& order, const Fd& handover) {
  const std::pair<int, int> given[] = {{kKeeperPidfd, kKeeperPidfd},
                                       {handover.get(), kSessionHandover},
                                       {kSessionHostKey, kSessionHostKey},
                                       {kSessionConfig, kSessionConfig},
                                       {kSessionListenerPidfd, kSessionListenerPidfd}};
  for (const auto& [ours, theirs] : given)
    if (const int error = ::posix_spawn_file_actions_adddup2(&order.actions, ours, theirs); error != 0) return error;
  return ::posix_spawn_file_actions_addclosefrom_np(&order.actions, kSessionListenerPidfd + 1);
}

// A session starts with every signal at its default and none blocked, whatever the listener does with its own.
int order_signals(SpawnOrder& order) {
  sigset_t all;
  sigset_t none;
  ::sigfillset(&all);
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigdefault(&order.attributes, &all);
  ::posix_spawnattr_setsigmask(&order.attributes, &none);
  return ::posix_spawnattr_setflags(&order.attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

}  // namespace

Expected<SessionProcess> SessionProcess::start(const std::string& program) {
  SocketPair handover = TRY(make_seqpacket_pair(Blocking::No));
  SpawnOrder order;
  if (const int error = order_descriptors(order, handover.theirs); error != 0)
    return failure("prepare descriptors of session", error);
  if (const int error = order_signals(order); error != 0) return failure("prepare signals of session", error);
  char word[] = "mayfly-sshd-session";
  char* const argv[] = {word, nullptr};
  char* const empty[] = {nullptr};
  pid_t pid = -1;
  if (const int error = ::posix_spawn(&pid, program.c_str(), &order.actions, &order.attributes, argv, empty);
      error != 0)
    return failure("start session", error, program);
  // It is ours and not reaped yet, so the number cannot have been given to another process.
  auto pidfd = open_pidfd(pid);
  if (!pidfd) {
    ::kill(pid, SIGKILL);
    siginfo_t gone{};
    ::waitid(P_PID, static_cast<id_t>(pid), &gone, WEXITED);
    return tl::make_unexpected(pidfd.error());
  }
  return SessionProcess(pid, std::move(*pidfd), std::move(handover.ours));
}

Expected<void> SessionProcess::serve(SessionDescriptors& own) {
  TRY(hand_over(handover_, own));
  handover_.reset();
  return {};
}

Expected<void> SessionProcess::abandon() {
  TRY(signal_pidfd(pidfd_, SIGKILL));
  TRY(reap());
  return {};
}

Expected<int> SessionProcess::reap() {
  siginfo_t info{};
  int done = 0;
  do done = ::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED);
  while (done != 0 && errno == EINTR);
  if (done != 0) return failure("reap session", errno);
  return info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) : W_EXITCODE(0, info.si_status);
}

}  // namespace mayfly
