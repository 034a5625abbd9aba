#include "sshd/listener.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <limits>

#include "jail/os/child.h"
#include "jail/os/clock.h"
#include "jail/os/log.h"
#include "jail/os/unix_socket.h"

namespace mayfly {

namespace {

using namespace literals;

constexpr int kAcceptsPerTurn = 16;               // then ended sessions have their turn
constexpr Milliseconds kTellRefusalsEvery = 1_s;  // however many there are
constexpr int kReportPipeBytes = 4096;  // one byte will be in it, and pipe memory is counted per user (pipe(7))

Fd open_spare(const Fd& any) { return Fd(::fcntl(any.get(), F_DUPFD_CLOEXEC, 3)); }

bool out_of_descriptors(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS; }

std::uint32_t kernel_random() {
  std::uint32_t value = 0;
  const bool filled = ::getrandom(&value, sizeof value, 0) == static_cast<ssize_t>(sizeof value);
  return filled ? value : std::numeric_limits<std::uint32_t>::max();
}

struct ReportPipe {
  Fd ours, theirs;

  static Expected<ReportPipe> make() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return failure("make report pipe", errno);
    (void)::fcntl(ends[0], F_SETPIPE_SZ, kReportPipeBytes);  // a pipe that stays larger works as well
    return ReportPipe{Fd(ends[0]), Fd(ends[1])};
  }
};

// A peer that does not take it at once does without.
void tell_peer(const Fd& connection, Refusal why) {
  const std::string_view text = kRefusalTexts[static_cast<std::size_t>(why)];
  (void)::send(connection.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

std::pair<std::string_view, std::string> field(const RefusalCounts& counts, Refusal why) {
  return {kRefusalNames[static_cast<std::size_t>(why)], std::to_string(counts.of(why))};
}

}  // namespace

Listener::Listener(Fd socket, SshdConfig config, std::string program, EventLoop loop, Fd spare)
    : socket_(std::move(socket)),
      config_(std::move(config)),
      program_(std::move(program)),
      loop_(std::move(loop)),
      spare_(std::move(spare)),
      entrance_(Places{}, EarlyDrop{}, config_.penalise_loopback ? LoopbackPenalties::Given : LoopbackPenalties::Spared,
                kernel_random) {}

Expected<Listener> Listener::make(Fd socket, SshdConfig config, std::string session_program) {
  const Peer here = TRY(bound_to(socket.get()));
  if (config.access.open && !here.loopback && !config.open_on_network)
    return failure("listen", 0, here.text, "access \"open\" is for loopback only unless openOnNetwork is true");
  TRY(set_nonblocking(socket.get(), Blocking::No));
  EventLoop loop = TRY(EventLoop::make());
  Fd spare = open_spare(socket);
  if (!spare) return failure("open spare descriptor", errno);
  if (config.access.open && !here.loopback)
    log_line(Severity::Warning, "sshd.open_on_network", {{"address", here.text}},
             "anybody who reaches this address may run programs in jails");
  return Listener(std::move(socket), std::move(config), std::move(session_program), std::move(loop), std::move(spare));
}

Expected<void> Listener::run(const Fd& keeper, const Fd& stop) {
  for (const Fd* until : {&keeper, &stop})
    TRY(loop_.watch(until->get(), EPOLLIN, [this](std::uint32_t) { loop_.stop(); }));
  TRY(loop_.watch(socket_.get(), EPOLLIN, [this](std::uint32_t) { accept_waiting(); }));
  spare_sessions_.emplace(loop_, program_, config_.made_ahead);
  log_line(Severity::Info, "sshd.listening", {{"address", TRY(bound_to(socket_.get())).text}});
  auto ran = loop_.run();
  const RefusalCounts& refused = refusals_.total();
  log_line(Severity::Info, "sshd.summary",
           {{"accepted", std::to_string(accepted_)},
            {"admitted", std::to_string(admitted_)},
            {"dropped", std::to_string(refused.all())},
            field(refused, Refusal::TooManyConnections),
            field(refused, Refusal::TooManyFromSource),
            field(refused, Refusal::EarlyDrop),
            field(refused, Refusal::Penalty),
            field(refused, Refusal::NoDescriptors),
            field(refused, Refusal::SessionNotStarted)});
  return ran;
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
  Fd refused(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (refused) {
    const auto peer = peer_of(refused.get());
    tell_peer(refused, Refusal::NoDescriptors);
    refused.reset();
    spare_ = open_spare(socket_);
    return refuse(Refusal::NoDescriptors, peer ? peer->source : "");
  }
  // Still nothing: the whole host has run out. Wait a little instead of spinning.
  const timespec pause{0, 20'000'000};
  ::nanosleep(&pause, nullptr);
}

// What we may execute is the very file that was there at our start (landlock(7)).
void Listener::tell_not_started(const Failure& why) const {
  log_failure("sshd.session_not_started", why);
  if (why.error == EACCES || why.error == ENOENT)
    log_line(Severity::Error, "sshd.program_replaced", {{"program", program_}},
             "it is not the one that this service was started with; restart the service");
}

void Listener::serve(Fd connection) {
  if (!spare_) spare_ = open_spare(socket_);
  const auto peer = peer_of(connection.get());
  if (!peer) return;  // gone already
  if (const auto refusal = entrance_.judge(*peer, monotonic_now())) {
    tell_peer(connection, *refusal);
    return refuse(*refusal, peer->source);
  }
  if (auto started = start_session(connection, *peer); !started) {
    entrance_.left({peer->source, peer->loopback}, SessionEnd::OwnFailure, monotonic_now());
    // While nothing can be started, one of them a second is told in full.
    if (!refusals_.is_anything_untold()) tell_not_started(started.error());
    const bool is_short = out_of_descriptors(started.error().error);
    const Refusal why = is_short ? Refusal::NoDescriptors : Refusal::SessionNotStarted;
    if (connection) tell_peer(connection, why);
    return refuse(why, peer->source);
  }
  ++accepted_;
}

Expected<void> Listener::start_session(Fd& connection, const Peer& peer) {
  Fd lease = TRY(connect_at_once(config_.lease));
  ReportPipe report = TRY(ReportPipe::make());
  SessionDescriptors own{std::move(connection), std::move(lease), std::move(report.theirs)};
  auto process = session_for(own);
  connection = std::move(own.connection);  // to be told why, where there is no process that has it
  if (!process) return tl::make_unexpected(process.error());
  return watch({std::move(*process), std::move(report.ours), {peer.source, peer.loopback}});
}

Expected<SessionProcess> Listener::session_for(SessionDescriptors& own) {
  if (auto waiting = spare_sessions_->take()) {
    if (waiting->serve(own)) return std::move(*waiting);
    TRY(waiting->abandon());  // most likely it has ended since we last looked
  }
  SessionProcess fresh = TRY(SessionProcess::start(program_));
  if (auto served = fresh.serve(own); !served) {
    TRY(fresh.abandon());
    return tl::make_unexpected(served.error());
  }
  return fresh;
}

Expected<void> Listener::watch(Session session) {
  const int pidfd = session.process.pidfd().get();
  const int report = session.report.get();
  const auto found = sessions_.emplace(pidfd, std::move(session)).first;
  auto watched = loop_.watch(pidfd, EPOLLIN, [this, pidfd](std::uint32_t) { session_ended(pidfd); });
  if (watched)
    watched = loop_.watch(report, EPOLLIN, [this, pidfd](std::uint32_t) { take_report(sessions_.at(pidfd)); });
  if (watched) return {};
  loop_.forget(pidfd);
  Session unwatched = std::move(found->second);
  sessions_.erase(found);
  TRY(unwatched.process.abandon());
  return watched;
}

// Whatever comes, or the end of the pipe, is the last thing that is read from it.
void Listener::take_report(Session& session) {
  if (!session.report) return;
  char said = 0;
  const ssize_t count = ::read(session.report.get(), &said, 1);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  loop_.forget(session.report.get());
  session.report.reset();
  if (count != 1 || said != kPeerIsAdmitted) return;
  entrance_.admitted(session.guest);
  ++admitted_;
}

void Listener::session_ended(int pidfd) {
  const auto found = sessions_.find(pidfd);
  if (found == sessions_.end()) return;
  Session& session = found->second;
  loop_.forget(pidfd);
  take_report(session);  // a short session may have ended before its report was looked at
  if (session.report) loop_.forget(session.report.get());
  const auto status = session.process.reap();
  if (status && WIFSIGNALED(*status))
    log_line(Severity::Warning, "sshd.session_died",
             {{"pid", std::to_string(session.process.pid())}, {"signal", std::to_string(WTERMSIG(*status))}});
  entrance_.left(session.guest, status ? session_end(*status) : SessionEnd::OwnFailure, monotonic_now());
  sessions_.erase(found);
  spare_sessions_->somebody_left();
}

void Listener::refuse(Refusal why, const std::string& source) {
  refusals_.note(why);
  last_refused_ = source;
  if (telling_is_due_) return;
  const Microseconds next = refusals_told_ + kTellRefusalsEvery;
  if (refusals_told_.count() == 0 || monotonic_now() >= next) return tell_refusals();
  telling_is_due_ = true;
  loop_.at(next, [this] { tell_refusals(); });
}

void Listener::tell_refusals() {
  telling_is_due_ = false;
  refusals_told_ = monotonic_now();
  const RefusalCounts counts = refusals_.take_untold();
  log_line(Severity::Warning, "sshd.dropped",
           {{"count", std::to_string(counts.all())},
            field(counts, Refusal::TooManyConnections),
            field(counts, Refusal::TooManyFromSource),
            field(counts, Refusal::EarlyDrop),
            field(counts, Refusal::Penalty),
            field(counts, Refusal::NoDescriptors),
            field(counts, Refusal::SessionNotStarted),
            {"source", last_refused_}});
}

}  // namespace mayfly
