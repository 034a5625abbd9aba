#include "sshd/listener.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "jail/os/child.h"
#include "jail/os/clock.h"
#include "jail/os/log.h"
#include "jail/os/unix_socket.h"

namespace mayfly {

namespace {

constexpr int kAcceptsPerTurn = 16;               // then ended sessions have their turn
constexpr Microseconds kDroppedEvery{1'000'000};  // one log line a second, however many are dropped

Fd open_spare(const Fd& any) { return Fd(::fcntl(any.get(), F_DUPFD_CLOEXEC, 3)); }

bool out_of_descriptors(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS; }

}  // namespace

Expected<Listener> Listener::make(Fd socket, SshdConfig config, std::string session_program) {
  const Peer here = TRY(bound_to(socket.get()));
  if (config.allows(Access::Open) && !here.loopback && !config.open_on_network)
    return failure("listen", 0, here.text, "access \"open\" is for loopback only unless openOnNetwork is true");
  TRY(set_nonblocking(socket.get(), Blocking::No));
  EventLoop loop = TRY(EventLoop::make());
  Fd spare = open_spare(socket);
  if (!spare) return failure("open spare descriptor", errno);
  if (config.allows(Access::Open) && !here.loopback)
    log_line(Severity::Warning, "sshd.open_on_network", {{"address", here.text}},
             "anybody who reaches this address may run programs in jails");
  return Listener(std::move(socket), std::move(config), std::move(session_program), std::move(loop), std::move(spare));
}

Expected<void> Listener::run(const Fd& keeper) {
  TRY(loop_.watch(keeper.get(), EPOLLIN, [this](std::uint32_t) { loop_.stop(); }));
  TRY(loop_.watch(socket_.get(), EPOLLIN, [this](std::uint32_t) { accept_waiting(); }));
  log_line(Severity::Info, "sshd.listening", {{"address", TRY(bound_to(socket_.get())).text}});
  return loop_.run();
}

void Listener::accept_waiting() {
  for (int i = 0; i < kAcceptsPerTurn; ++i)
    if (!accept_one()) return;
}

// False: nothing more is waiting now.
bool Listener::accept_one() {
  Fd connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (connection) {
    serve(std::move(connection));
    return true;
  }
  const int error = errno;
  if (out_of_descriptors(error)) shed_one();
  // Errors of the connection itself (ECONNABORTED, EPROTO, ...: accept(2)) concern nobody else.
  return error != EAGAIN && error != EWOULDBLOCK && !out_of_descriptors(error);
}

// The readiness is level-triggered: a connection that cannot be accepted would wake us for ever. The spare descriptor
// makes room for it, and it is refused.
void Listener::shed_one() {
  spare_.reset();
  const Fd refused(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  note_dropped("no descriptors left", "");
  // Still nothing: the whole host has run out. Wait a little instead of spinning.
  if (!refused) {
    const timespec pause{0, 20'000'000};
    ::nanosleep(&pause, nullptr);
  }
  spare_ = Fd();
}

void Listener::serve(Fd connection) {
  if (!spare_) spare_ = open_spare(socket_);
  const auto peer = peer_of(connection.get());
  if (!peer) return;  // gone already
  const Entry entry = limits_.enter(peer->source);
  if (entry != Entry::Admitted)
    return note_dropped(entry == Entry::Full ? "too many connections" : "too many from one source", peer->source);
  if (auto started = start_session(std::move(connection), *peer); !started) {
    limits_.leave(peer->source);
    log_failure("sshd.session_not_started", started.error());
  }
}

Expected<void> Listener::start_session(Fd connection, const Peer& peer) {
  Fd lease = TRY(connect_to(config_.lease));
  SessionProcess process = TRY(SessionProcess::start(program_, std::move(connection), std::move(lease)));
  const int pidfd = process.pidfd().get();
  if (auto watched = loop_.watch(pidfd, EPOLLIN, [this, pidfd](std::uint32_t) { session_ended(pidfd); }); !watched) {
    TRY(signal_pidfd(process.pidfd(), SIGKILL));
    TRY(process.reap());
    return watched;
  }
  sessions_.emplace(pidfd, Session{std::move(process), peer.source});
  return {};
}

void Listener::session_ended(int pidfd) {
  const auto found = sessions_.find(pidfd);
  if (found == sessions_.end()) return;
  loop_.forget(pidfd);
  const auto status = found->second.process.reap();
  if (status && WIFSIGNALED(*status))
    log_line(Severity::Warning, "sshd.session_died",
             {{"pid", std::to_string(found->second.process.pid())}, {"signal", std::to_string(WTERMSIG(*status))}});
  limits_.leave(found->second.source);
  sessions_.erase(found);
}

void Listener::note_dropped(const char* why, const std::string& source) {
  ++dropped_;
  const Microseconds now = monotonic_now();
  if (dropped_told_.count() != 0 && now - dropped_told_ < kDroppedEvery) return;
  log_line(Severity::Warning, "sshd.dropped", {{"count", std::to_string(dropped_)}, {"source", source}, {"why", why}});
  dropped_ = 0;
  dropped_told_ = now;
}

}  // namespace mayfly
