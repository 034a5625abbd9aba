#include "jail/supervisor/operator.h"

#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "jail/os/log.h"
#include "jail/spec/escape.h"

namespace mayfly {

namespace {

constexpr std::size_t kInvitesPerFrame = 100;
constexpr std::size_t kRowsPerFrame = 16;   // a row is at most 3 KiB of JSON, a frame 64 KiB
constexpr std::size_t kMostGroups = 65536;  // NGROUPS_MAX

// "name:password:gid:members", group(5).
std::optional<gid_t> gid_in(const std::string& line, std::string_view name) {
  if (!line.starts_with(std::string(name) + ":")) return std::nullopt;
  const std::size_t second = line.find(':', name.size() + 1);
  if (second == std::string::npos) return std::nullopt;
  gid_t gid = 0;
  const auto [end, error] = std::from_chars(line.data() + second + 1, line.data() + line.size(), gid);
  return error == std::errc() && end != line.data() + line.size() && *end == ':' ? std::optional(gid) : std::nullopt;
}

bool is_member(const Fd& socket, const PeerCredentials& peer, std::optional<gid_t> group) {
  if (!group) return false;
  if (peer.gid == *group) return true;
  std::vector<gid_t> groups(256);
  socklen_t length = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length) != 0) {
    if (errno != ERANGE || length > kMostGroups * sizeof(gid_t)) return false;
    groups.resize(length / sizeof(gid_t));
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length) != 0) return false;
  }
  groups.resize(length / sizeof(gid_t));
  return std::find(groups.begin(), groups.end(), *group) != groups.end();
}

}  // namespace

OperatorGroups OperatorGroups::of_this_host() {
  OperatorGroups found;
  std::ifstream file("/etc/group");
  for (std::string line; std::getline(file, line);) {
    if (const auto gid = gid_in(line, "mayfly-ops")) found.act = gid;
    if (const auto gid = gid_in(line, "mayfly-watch")) found.watch = gid;
  }
  return found;
}

std::optional<Role> operator_role(const Fd& socket, const PeerCredentials& peer, uid_t own,
                                  const OperatorGroups& groups) {
  if (peer.uid == 0 || peer.uid == own || is_member(socket, peer, groups.act)) return Role::MonitorOperator;
  if (is_member(socket, peer, groups.watch)) return Role::MonitorReader;
  return std::nullopt;
}

Expected<void> Operator::frame_came(Frame frame) {
  const FromMonitor message = TRY(decode_from_monitor(frame.body));
  if (!frame.fds.empty()) return failure("accept message", 0, "descriptors", "none are taken here");
  if (std::holds_alternative<AskStatus>(message)) {
    if (!may(Message::AskStatus)) return failure("ask status", EPERM);
    send(events_.status());
  } else if (std::holds_alternative<AskJails>(message)) {
    if (!may(Message::AskJails)) return failure("list jails", EPERM);
    send_rows();
  } else if (const auto* kill = std::get_if<KillJails>(&message)) {
    if (!may(Message::KillJails)) return failure("kill jails", EPERM, "", "this connection may only watch");
    const std::uint32_t count = events_.kill_jails(kill->target);
    log_line(Severity::Info, "operator.kill",
             {{"uid", std::to_string(uid_)}, {"target", kill->target}, {"jails", std::to_string(count)}});
    send(Killed{count});
  } else if (!std::holds_alternative<Drain>(message)) {
    if (!may(Message::Invites)) return failure("handle invites", EPERM, "", "this connection may only watch");
    if (const auto* order = std::get_if<NewInvites>(&message)) make_invites(*order);
    if (std::holds_alternative<AskInvites>(message)) send_invites(events_.logins().invites());
    if (const auto* old = std::get_if<RevokeInvite>(&message)) revoke(old->name);
  } else {
    if (!may(Message::Drain)) return failure("drain", EPERM, "", "this connection may only watch");
    events_.drain();
    log_line(Severity::Info, "operator.drain", {{"uid", std::to_string(uid_)}}, "no new jails from now on");
    send(Done{});
  }
  return {};
}

void Operator::make_invites(const NewInvites& order) {
  auto rows = events_.logins().make_invites(order);
  if (rows)
    log_line(Severity::Info, "operator.invite",
             {{"uid", std::to_string(uid_)},
              {"invite", rows->front().name},
              {"count", std::to_string(rows->size())},
              {"profile", order.profile}});
  send_invites(std::move(rows));
}

void Operator::send_invites(Expected<std::vector<InviteRow>> rows) {
  if (!rows) return send(Denied{rows.error().text()});
  for (std::size_t at = 0; at == 0 || at < rows->size(); at += kInvitesPerFrame) {
    Invites frame;
    const std::size_t until = std::min(rows->size(), at + kInvitesPerFrame);
    for (std::size_t i = at; i < until; ++i) frame.rows.push_back(std::move((*rows)[i]));
    frame.more = until < rows->size();
    send(ToMonitor{std::move(frame)});
  }
}

// Who came in by it gets nothing more, first and in any case: a code that was given away by mistake must not go on
// working where it is in use, also when it is used up, and when the disk is full.
void Operator::revoke(const std::string& name) {
  const auto revoked = events_.logins().revoke(name);
  const ShutOut out = events_.shut_out(principal_of_invite(name));
  log_line(Severity::Info, "operator.revoke",
           {{"uid", std::to_string(uid_)}, {"invite", name}, {"jails", std::to_string(out.jails)}});
  if (!revoked && revoked.error().doing == "write invites")
    return send(Denied{"revoked, but only until the service starts anew: " + revoked.error().text()});
  if (!revoked) return send(Denied{revoked.error().text()});
  if (!*revoked && out.connections == 0)
    return send(Denied{"there is no invite \"" + escape(name, 60) + "\"; see \"mayfly invite list\""});
  send(Revoked{out.jails});
}

void Operator::send_rows() {
  std::vector<JailRow> rows = events_.jail_rows();
  for (std::size_t at = 0; at == 0 || at < rows.size(); at += kRowsPerFrame) {
    Jails frame;
    const std::size_t until = std::min(rows.size(), at + kRowsPerFrame);
    for (std::size_t i = at; i < until; ++i) frame.rows.push_back(std::move(rows[i]));
    frame.more = until < rows.size();
    send(ToMonitor{std::move(frame)});
  }
}

}  // namespace mayfly
