#include "jail/cli/monitor_client.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "jail/os/unix_socket.h"

namespace mayfly {

namespace {
constexpr int kAnswerLimitMs = 5000;
constexpr int kMostFrames = 4096;  // more rows than there can be jails
}  // namespace

Expected<MonitorClient> MonitorClient::connect(const Paths& paths) {
  const std::string path = paths.run + "/monitor.sock";
  auto socket = connect_to(path);
  if (socket) {
    // SO_PEERCRED of a listener is who listens: a folder that somebody else has made must not speak for our service.
    const PeerCredentials who = TRY(peer_credentials(*socket));
    if (who.uid == 0 || who.uid == ::geteuid()) return MonitorClient(std::move(*socket));
    return failure("reach the service", 0, path, "uid " + std::to_string(who.uid) + " listens there, not you or root");
  }
  const int error = socket.error().error;
  if (error == ENOENT || error == ECONNREFUSED || error == ENOTDIR)
    return failure("reach the service", 0, path,
                   "none is running there; start it with \"mayfly serve\", or name its "
                   "directory with --state");
  if (error == EACCES)
    return failure("reach the service", EACCES, path, "only its owner and the groups mayfly-watch and mayfly-ops may");
  return tl::make_unexpected(socket.error());
}

Expected<void> MonitorClient::send(const FromMonitor& question) {
  auto sent = send_frame(socket_.get(), encode(question));
  if (!sent && sent.error().error == EPIPE)
    return failure("ask the service", EPIPE, {}, "it has closed the connection");
  return sent;
}

Expected<ToMonitor> MonitorClient::receive() {
  pollfd entry{socket_.get(), POLLIN, 0};
  int ready = 0;
  do ready = ::poll(&entry, 1, kAnswerLimitMs);
  while (ready < 0 && errno == EINTR);
  if (ready == 0) return failure("hear from the service", ETIMEDOUT, {}, "it does not answer");
  const Frame frame = TRY(receive_frame(socket_.get()));
  if (frame.closed) return failure("hear from the service", EPIPE, {}, "it refused this user, or it has just ended");
  ToMonitor answer = TRY(decode_to_monitor(frame.body));
  if (const auto* denied = std::get_if<Denied>(&answer)) return failure("ask the service", 0, {}, denied->text);
  return answer;
}

Expected<std::vector<JailRow>> MonitorClient::jails() {
  Jails part = TRY(ask<Jails>(AskJails{}));
  std::vector<JailRow> rows = std::move(part.rows);
  for (int frames = 0; part.more && frames < kMostFrames; ++frames) {
    ToMonitor answer = TRY(receive());
    auto* next = std::get_if<Jails>(&answer);
    if (next == nullptr) return failure("understand the service", 0, {}, "the list of jails was cut short");
    part = std::move(*next);
    rows.insert(rows.end(), part.rows.begin(), part.rows.end());
  }
  return rows;
}

Expected<std::vector<InviteRow>> MonitorClient::invites(const FromMonitor& question) {
  Invites part = TRY(ask<Invites>(question));
  std::vector<InviteRow> rows = std::move(part.rows);
  for (int frames = 0; part.more && frames < kMostFrames; ++frames) {
    ToMonitor answer = TRY(receive());
    auto* next = std::get_if<Invites>(&answer);
    if (next == nullptr) return failure("understand the service", 0, {}, "the list of invites was cut short");
    part = std::move(*next);
    rows.insert(rows.end(), part.rows.begin(), part.rows.end());
  }
  return rows;
}

Expected<MonitorClient> connect_to_service(const std::string& state) {
  const Privilege privilege = current_privilege();
  const Paths own = TRY(find_paths(privilege, state));
  auto client = MonitorClient::connect(own);
  if (client || privilege == Privilege::Root || own.state_was_named) return client;
  // An ordinary user without a service may be a member of mayfly-watch or mayfly-ops: root's has a place of its own.
  auto of_root = MonitorClient::connect(TRY(find_paths(Privilege::Root, {})));
  return of_root ? std::move(of_root) : std::move(client);
}

}  // namespace mayfly
