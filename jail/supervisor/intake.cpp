#include "jail/supervisor/intake.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "jail/os/memfd.h"
#include "jail/spec/resolve.h"
#include "jail/supervisor/plan_maker.h"

namespace mayfly {

namespace {

constexpr std::size_t kShownCommand = 200;  // bytes; resolve() cuts on a character boundary

OriginKind origin_of(Role role) {
  if (role == Role::Ssh) return OriginKind::Ssh;
  return role == Role::Api ? OriginKind::Api : OriginKind::Cli;
}

Expected<PeerFds> sort_descriptors(const Open& open, std::vector<Fd> fds) {
  PeerFds peer;
  std::vector<Fd*> wanted{&peer.out};
  if (!open.request.terminal) wanted.push_back(&peer.err);
  if (open.has_stdin) wanted.push_back(&peer.in);
  if (open.request.payload_bytes > 0) wanted.push_back(&peer.payload);
  if (wanted.size() != fds.size())
    return failure("accept run", 0, "descriptors",
                   "needs " + std::to_string(wanted.size()) + ", got " + std::to_string(fds.size()));
  for (std::size_t i = 0; i < fds.size(); ++i) *wanted[i] = std::move(fds[i]);
  if (!peer.payload) return peer;
  peer.payload_bytes = TRY(sealed_size(peer.payload, kMaxPayload.count));
  if (peer.payload_bytes != open.request.payload_bytes)
    return failure("accept run", 0, "payloadBytes", "the payload has another size");
  return peer;
}

// For people only: what is shown of the command, at most 200 bytes of the part, or of the arguments with spaces.
std::string command_text(const Request& request, const Fd& payload) {
  std::string text;
  const auto append = [&](const PayloadPart& part) {
    char piece[kShownCommand];
    const std::size_t room = std::min<std::size_t>(part.length, kShownCommand - text.size());
    const ssize_t got = ::pread(payload.get(), piece, room, static_cast<off_t>(part.offset));
    if (got > 0) text.append(piece, static_cast<std::size_t>(got));
  };
  for (const PayloadPart& part : request.payload)
    if (part.kind == PayloadKind::Command || part.kind == PayloadKind::Code) {
      append(part);
      return text;
    }
  for (const PayloadPart& part : request.payload) {
    if (part.kind != PayloadKind::Argument || text.size() >= kShownCommand) continue;
    if (!text.empty()) text += ' ';
    append(part);
  }
  return text;
}

// A key's command is the whole of what its connection may run.
bool is_the_command(const Request& request, const Fd& payload, const std::string& command) {
  if (request.payload.size() != 1 || request.payload[0].kind != PayloadKind::Command) return false;
  const PayloadPart& part = request.payload[0];
  if (part.length != command.size() || part.offset > request.payload_bytes) return false;
  std::string text(command.size(), '\0');
  return ::pread(payload.get(), text.data(), text.size(), static_cast<off_t>(part.offset)) ==
             static_cast<ssize_t>(text.size()) &&
         text == command;
}

Expected<void> judge_identity(const Identity& identity, const Request& request, const Fd& payload) {
  if (request.profile != identity.profile) return failure("accept run", 0, "profile", "is not that of the login");
  if (request.principal != identity.principal) return failure("accept run", 0, "principal", "is not that of the login");
  if (identity.command && !is_the_command(request, payload, *identity.command))
    return failure("accept run", 0, "command", "is not the one that the key is for");
  return {};
}

Refusal refusal_of(const Failure& failure) {
  const bool unknown = failure.subject == "profile" || failure.subject == "language";
  return {unknown ? RefusalKind::UnknownProfile : RefusalKind::BadRequest, failure.subject,
          failure.why.empty() ? failure.text() : failure.why, 0};
}

}  // namespace

Expected<JailId> make_jail_id() {
  std::array<std::uint8_t, 16> bits{};
  if (::getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size()))
    return failure("make jail id", errno);
  return JailId(bits);
}

Expected<Intake> take_in(Open open, std::vector<Fd> fds, Role role, const Identity* identity, const Policy& policy) {
  // A front end speaks for its own kind alone.
  if (open.request.origin != origin_of(role)) return failure("accept run", 0, "origin", "is another front end's");
  PeerFds peer = TRY(sort_descriptors(open, std::move(fds)));
  if (identity != nullptr) TRY(judge_identity(*identity, open.request, peer.payload));
  const JailId id = TRY(make_jail_id());
  Expected<Spec> spec = resolve(open.request, policy, id, command_text(open.request, peer.payload));
  if (!spec) return Intake(refusal_of(spec.error()));
  return Intake(Accepted{std::move(*spec), std::move(peer)});
}

}  // namespace mayfly
