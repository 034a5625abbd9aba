// mayfly-sshd: the SSH listener. Started by the keeper with the descriptors of wire/startup.h, or by hand as
// `mayfly-sshd --generate-host-key`, which prints a new private key and is done by the session program, the only one
// of the two that knows SSH.
#include <fcntl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "jail/os/child.h"
#include "jail/os/log.h"
#include "jail/wire/startup.h"
#include "sshd/confinement.h"
#include "sshd/listener.h"

namespace mayfly {

namespace {

Expected<std::string> beside_us(std::string_view name) {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  if (length <= 0) return failure("find own program", errno, "/proc/self/exe");
  std::string program(path.data(), static_cast<std::size_t>(length));
  return program.substr(0, program.rfind('/') + 1).append(name);
}

// Descriptors that came by exec are inheritable; ours are not, so that nothing slips into a session unnamed.
Expected<Fd> adopt(int number, const char* what) {
  if (::fcntl(number, F_SETFD, FD_CLOEXEC) != 0) return failure("find descriptor", errno, what);
  return Fd(number);
}

// Sessions find the pidfd of their listener under a fixed number.
Expected<void> take_numbers() {
  Fd low = TRY(open_pidfd(::getpid()));
  const Fd self(::fcntl(low.get(), F_DUPFD_CLOEXEC, kSessionListenerPidfd + 1));
  low.reset();  // it may have had the number
  if (::dup3(self.get(), kSessionListenerPidfd, O_CLOEXEC) < 0)
    return failure("reserve descriptor", errno, std::to_string(kSessionListenerPidfd));
  return {};
}

// The keeper stops us by SIGTERM, and there is something to say before the end. Sessions have it unblocked again.
Expected<Fd> take_stop_signals() {
  sigset_t stop;
  ::sigemptyset(&stop);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&stop, number);
  if (::sigprocmask(SIG_BLOCK, &stop, nullptr) != 0) return failure("block stop signals", errno);
  const Fd low(::signalfd(-1, &stop, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!low) return failure("watch stop signals", errno);
  Fd signals(::fcntl(low.get(), F_DUPFD_CLOEXEC, kSessionListenerPidfd + 1));
  if (!signals) return failure("move stop signals", errno);
  return signals;
}

// The session program, what the dynamic linker and its libraries read, and the folder of lease.sock.
std::vector<Reach> what_stays_in_reach(const SshdConfig& config, const std::string& session_program) {
  using Access = Reach::Access;
  return {{session_program, Access::Execute},
          {"/usr/lib", Access::Execute},
          {"/lib", Access::Execute},
          {"/lib64", Access::Execute},
          {"/etc", Access::Read},
          {config.lease.substr(0, config.lease.rfind('/')), Access::Read}};
}

Expected<void> serve() {
  const Fd keeper = TRY(adopt(kKeeperPidfd, "keeper"));
  Fd socket = TRY(adopt(kSshdListener, "listener"));
  const Fd host_key = TRY(adopt(kSshdHostKey, "host key"));
  const Fd config_file = TRY(adopt(kSshdConfig, "configuration"));
  SshdConfig config = TRY(read_sshd_config(config_file));
  set_log_threshold(config.log_level);
  const std::string program = TRY(beside_us("mayfly-sshd-session"));
  TRY(lock_down(confinement::listener(what_stays_in_reach(config, program))));
  TRY(take_numbers());
  const Fd stop = TRY(take_stop_signals());
  // Moved away from the number under which sessions find their side of the handover; that number stays taken.
  Fd listening(::fcntl(socket.get(), F_DUPFD_CLOEXEC, kSessionListenerPidfd + 1));
  if (!listening) return failure("move listener", errno);
  Listener listener = TRY(Listener::make(std::move(listening), std::move(config), program));
  return listener.run(keeper, stop);
}

int generate_host_key() {
  const auto program = beside_us("mayfly-sshd-session");
  if (program) ::execl(program->c_str(), "mayfly-sshd-session", "--generate-host-key", nullptr);
  log_line(Severity::Error, "sshd.no_host_key", {}, "cannot run mayfly-sshd-session beside mayfly-sshd");
  return 1;
}

}  // namespace

}  // namespace mayfly

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--generate-host-key") return mayfly::generate_host_key();
  ::signal(SIGPIPE, SIG_IGN);
  if (const auto served = mayfly::serve(); !served) {
    mayfly::log_failure("sshd.failed", served.error());
    return 1;
  }
  // Nothing is left to do. A sanitizer's look for leaks would need ptrace(2), which our own filter denies.
  ::_exit(0);
}
