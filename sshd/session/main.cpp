// mayfly-sshd-session: speaks SSH with one peer and ends with it. Started by mayfly-sshd with the descriptors of
// wire/startup.h, perhaps before that peer is there (sshd/spare_sessions.h); with --generate-host-key it prints a new
// private key instead.
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>

#include "jail/os/log.h"
#include "jail/wire/startup.h"
#include "sshd/confinement.h"
#include "sshd/handover.h"
#include "sshd/session/connection.h"
#include "sshd/session/warm_up.h"

namespace mayfly {

namespace {

// Should the loop ever fail to keep the grace time itself, the kernel does it a little later.
constexpr unsigned kGraceBackupSeconds = 25;
// A connection needs some 10 MiB. libssh would buffer up to 256 MiB for a peer that does not read, and more of what one
// sends unasked: then this process ends, and with it nobody but that peer.
constexpr rlim_t kAddressSpace = 512ull << 20;
constexpr rlim_t kDescriptors = 128;  // ten channels with three streams each, and our own

Expected<Fd> adopt(int number, const char* what) {
  if (::fcntl(number, F_SETFD, FD_CLOEXEC) != 0) return failure("find descriptor", errno, what);
  return Fd(number);
}

Expected<void> limit(__rlimit_resource resource, rlim_t most, const char* what) {
  const rlimit both{most, most};
  if (::setrlimit(resource, &both) != 0) return failure("limit own resources", errno, what);
  return {};
}

Expected<void> limit_ourselves() {
#ifndef __SANITIZE_ADDRESS__  // its shadow memory alone is larger
  TRY(limit(RLIMIT_AS, kAddressSpace, "address space"));
#endif
  return limit(RLIMIT_NOFILE, kDescriptors, "descriptors");
}

// Of at most 15 bytes (PR_SET_NAME): in ps(1) those that wait can be told from those that serve.
void name_ourselves(const char* name) { (void)::prctl(PR_SET_NAME, name); }

bool is_readable(const Fd& fd) {
  pollfd entry{fd.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

// Waits for the listener as long as there is one. Nothing: nobody is to be served.
Expected<std::optional<SessionDescriptors>> await_connection(Fd handover, const Guardians& guardians) {
  pollfd entries[] = {
      {handover.get(), POLLIN, 0}, {guardians.keeper.get(), POLLIN, 0}, {guardians.listener.get(), POLLIN, 0}};
  while (::poll(entries, std::size(entries), -1) < 0)
    if (errno != EINTR) return failure("wait for connection", errno);
  if (entries[1].revents != 0 || entries[2].revents != 0) return std::nullopt;
  return take_over(handover);
}

Expected<SessionEnd> serve() {
  ::alarm(kGraceBackupSeconds);  // somebody may be waiting already
  Guardians guardians;
  guardians.keeper = TRY(adopt(kKeeperPidfd, "keeper"));
  guardians.listener = TRY(adopt(kSessionListenerPidfd, "listener"));
  Fd handover = TRY(adopt(kSessionHandover, "handover"));
  const Fd key = TRY(adopt(kSessionHostKey, "host key"));
  const Fd config_file = TRY(adopt(kSessionConfig, "configuration"));
  TRY(limit_ourselves());
  // Nothing of the peer has been read yet. What libraries read late: OpenSSL its configuration, libc the time zone.
  TRY(lock_down(confinement::session({{"/etc", Reach::Access::Read}, {"/usr/share/zoneinfo", Reach::Access::Read}})));
  const SshdConfig config = TRY(read_sshd_config(config_file));
  set_log_threshold(config.log_level);
  std::unique_ptr<Transport> transport = TRY(Transport::prepare(TRY(read_host_key(key))));
  if (!is_readable(handover)) warm_up_crypto();  // nobody waits for us
  ::alarm(0);
  name_ourselves("mayfly-spare");
  std::optional<SessionDescriptors> own = TRY(await_connection(std::move(handover), guardians));
  if (!own) return SessionEnd::Served;
  name_ourselves("mayfly-session");
  ::alarm(kGraceBackupSeconds);
  auto peer = peer_of(own->connection.get());
  if (!peer) return SessionEnd::NeverAuthenticated;  // it left before we came
  Connection connection(config, std::move(*peer), TRY(SupervisorClient::adopt(std::move(own->lease))),
                        std::move(guardians), std::move(own->report));
  const SessionEnd end = TRY(connection.serve(std::move(own->connection), std::move(transport)));
  // Before any destructor: libssh may have freed behind our back what they would free.
  ::_exit(static_cast<int>(end));
}

int print_host_key() {
  const auto key = generate_host_key();
  if (!key) {
    log_failure("sshd.no_host_key", key.error());
    return 1;
  }
  std::string_view rest = *key;
  while (!rest.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (count <= 0) return 1;
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

}  // namespace

}  // namespace mayfly

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  if (argc == 2 && std::string_view(argv[1]) == "--generate-host-key") return mayfly::print_host_key();
  const auto end = mayfly::serve();
  if (!end) mayfly::log_failure("sshd.session_failed", end.error());
  ::_exit(static_cast<int>(end.value_or(mayfly::SessionEnd::OwnFailure)));
}
