#include "sshd/session/transport.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "jail/os/clock.h"
#include "jail/os/unix_socket.h"
#include "sshd/session/algorithms.h"

namespace mayfly {

namespace {

constexpr int kMostDrained = 1024;  // reads of the orderly end; a peer that floods is not listened to for ever
constexpr int kMostSettled = 16;    // turns of it before the last word

int milliseconds_until(std::int64_t deadline_us) {
  const std::int64_t left = deadline_us - monotonic_now().count();
  return left <= 0 ? 0 : static_cast<int>(left / 1000 + 1);
}

// Of what no callback has taken. 1 would have it refused, as libssh does by itself when there is no such function.
int swallow(ssh_session, ssh_message, void*) { return 0; }

// Of the first exchange: KEXINIT, the peer's half of the secret, NEWKEYS, and maybe a half for a method that the peer
// has guessed wrong (RFC 4253, 7.1), which libssh alone can tell from any other packet.
constexpr std::uint64_t kMostPacketsBeforeKeys = 4;

// libssh tells how far it has come in each exchange of keys, also in later ones: below 1 when it has the peer's
// KEXINIT, 1 when it has its NEWKEYS. There is no other sign of either.
void note_key_progress(void* userdata, float progress) {
  KeyProgress& keys = *static_cast<KeyProgress*>(userdata);
  const bool done = progress >= 1.0F;
  if (keys.exchanges == 0 && keys.arrived->in_packets > (done ? kMostPacketsBeforeKeys : 1)) keys.intruded = true;
  if (done) ++keys.exchanges;
}

int ask_interactive(ssh_session session, ssh_message message, void* interactive) {
  return static_cast<Interactive*>(interactive)->take(session, message);
}

}  // namespace

bool may_begin_ssh(const Fd& connection) {
  static constexpr std::string_view kBeginning = "SSH-";
  std::array<char, kBeginning.size()> bytes{};
  const ssize_t count = ::recv(connection.get(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  return count <= 0 || kBeginning.starts_with(std::string_view(bytes.data(), static_cast<std::size_t>(count)));
}

Expected<std::unique_ptr<Transport>> Transport::prepare(HostKey key) {
  std::unique_ptr<Transport> transport(new Transport());
  TRY(transport->start(std::move(key)));
  return transport;
}

Expected<void> Transport::start(HostKey key) {
  // A log callback would keep pointers to sessions; what matters is logged by us.
  ssh_set_log_level(SSH_LOG_NOLOG);
  bind_ = ssh_bind_new();
  session_ = ssh_new();
  event_ = ssh_event_new();
  if (bind_ == nullptr || session_ == nullptr || event_ == nullptr) return failure("make ssh session", ENOMEM);
  TRY(configure(bind_));
  if (ssh_bind_options_set(bind_, SSH_BIND_OPTIONS_IMPORT_KEY, key.get()) != SSH_OK)
    return failure("set host key", 0, {}, ssh_get_error(bind_));
  (void)key.release();  // the bind owns it now
  // Accepting takes libssh 2 ms without a look at the descriptor: it gets a number now, and the connection later.
  Fd reserved = std::move(TRY(make_seqpacket_pair(Blocking::No)).ours);
  libssh_number_ = reserved.release();
  if (ssh_bind_accept_fd(bind_, session_, libssh_number_) != SSH_OK)
    return failure("accept ssh connection", 0, {}, ssh_get_error(bind_));
  // The bind has no word for it: without this a client that asks for zlib gets it ("no" would only prefer none).
  if (ssh_options_set(session_, SSH_OPTIONS_COMPRESSION, "none") != SSH_OK)
    return failure("turn off compression", 0, {}, ssh_get_error(session_));
  return {};
}

Expected<void> Transport::accept(Fd connection, ssh_server_callbacks callbacks) {
  TRY(set_nonblocking(connection.get(), Blocking::No));
  const int yes = 1;
  if (::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0)
    return failure("set TCP_NODELAY", errno);
  if (::dup3(connection.get(), libssh_number_, O_CLOEXEC) < 0) return failure("duplicate connection", errno);
  socket_ = std::move(connection);
  ssh_set_blocking(session_, 0);
  ssh_set_counters(session_, &sent_, &arrived_);
  if (ssh_set_server_callbacks(session_, callbacks) != SSH_OK) return failure("set ssh callbacks", 0);
  keys_.arrived = &arrived_;
  progress_.userdata = &keys_;
  progress_.connect_status_function = note_key_progress;
  ssh_callbacks_init(&progress_);
  if (ssh_set_callbacks(session_, &progress_) != SSH_OK) return failure("watch ssh key exchanges", 0);
  // Sends our banner and makes the poll handle that the event takes over; the key exchange itself runs in turn().
  // A peer that has sent nonsense already, or has left, is an ordinary end.
  gone_ = ssh_handle_key_exchange(session_) == SSH_ERROR;
  if (!gone_ && ssh_event_add_session(event_, session_) != SSH_OK)
    return failure("watch ssh connection", 0, {}, ssh_get_error(session_));
  return {};
}

void Transport::offer(const SshAccess& access, Interactive& interactive) {
  if (gone_) return;
  int methods = 0;
  if (access.open || access.keys) methods |= SSH_AUTH_METHOD_PUBLICKEY;
  if (access.open || access.invites) methods |= SSH_AUTH_METHOD_PASSWORD;
  if (access.invites) methods |= SSH_AUTH_METHOD_INTERACTIVE;  // it asks for a code
  ssh_set_auth_methods(session_, methods);
  ssh_set_message_callback(session_, ask_interactive, &interactive);
}

short Transport::interest() const {
  const int flags = ssh_get_poll_flags(session_);
  return static_cast<short>(POLLIN | ((flags & SSH_WRITE_PENDING) != 0 ? POLLOUT : 0));
}

bool Transport::is_open() const {
  return !gone_ && ssh_is_connected(session_) != 0 && (ssh_get_status(session_) & (SSH_CLOSED | SSH_CLOSED_ERROR)) == 0;
}

bool Transport::peer_has_left() const {
  char next = 0;
  const ssize_t count = ::recv(socket_.get(), &next, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno != EAGAIN);
}

bool Transport::turn() {
  if (gone_) return false;
  (void)since_last_look();
  // Its status speaks for the whole event, not for the connection: the state below decides.
  (void)ssh_event_dopoll(event_, 0);
  gone_ = !is_open();
  return !gone_;
}

bool Transport::clogged() const { return (ssh_get_status(session_) & SSH_WRITE_PENDING) != 0; }

void Transport::rearm_quick_acks() const {
  const int yes = 1;
  (void)::setsockopt(socket_.get(), IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof yes);
}

Arrived Transport::since_last_look() {
  const Arrived now{arrived_.in_packets, arrived_.in_bytes};
  const Arrived between{now.packets - looked_.packets, now.bytes - looked_.bytes};
  looked_ = now;
  return between;
}

void Transport::send_keepalive() {
  // libssh keeps the answer to the last one as a state: the first call takes it, only then one is sent.
  ssh_send_keepalive(session_);
  ssh_send_keepalive(session_);
}

void Transport::flush_until(std::int64_t deadline_us) {
  for (int i = 0; i < kMostDrained && is_open() && clogged(); ++i) {
    const int wait = milliseconds_until(deadline_us);
    if (wait == 0) return;
    pollfd entry{socket_.get(), static_cast<short>(POLLIN | POLLOUT), 0};
    if (::poll(&entry, 1, wait) <= 0) return;
    (void)ssh_event_dopoll(event_, 0);
  }
}

// Our last packet is sent only if the socket is known to take one, or else it is buffered and lost. A turn finds that
// out, but it also reads, and an answer to what the peer asked meanwhile would take the place of our last packet: so
// its requests have no answer any more, and a turn in which something was said all the same is followed by another.
void Transport::settle_until(std::int64_t deadline_us) {
  ssh_callbacks_init(&deaf_);
  (void)ssh_set_server_callbacks(session_, &deaf_);
  ssh_set_message_callback(session_, swallow, nullptr);
  for (int i = 0; i < kMostSettled && is_open(); ++i) {
    flush_until(deadline_us);
    const std::uint64_t said = arrived_.out_packets;
    (void)ssh_event_dopoll(event_, 0);
    if (arrived_.out_packets == said) return;
  }
}

void Transport::leave(const char* reason, Milliseconds most) {
  const std::int64_t deadline = (monotonic_now() + most).count();
  settle_until(deadline);
  if (is_open()) {
    ssh_session_set_disconnect_message(session_, reason);
    ssh_disconnect(session_);  // closes libssh's descriptor; ours is the duplicate
  }
  gone_ = true;
  ::shutdown(socket_.get(), SHUT_WR);
  await_peer_close(deadline);
}

void Transport::await_peer_close(std::int64_t deadline_us) const {
  std::array<char, 16384> unread{};
  for (int i = 0; i < kMostDrained; ++i) {
    const ssize_t count = ::recv(socket_.get(), unread.data(), unread.size(), MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN)) return;
    if (count > 0) continue;
    pollfd entry{socket_.get(), POLLIN, 0};
    const int wait = milliseconds_until(deadline_us);
    if (wait == 0 || ::poll(&entry, 1, wait) <= 0) return;
  }
}

}  // namespace mayfly
