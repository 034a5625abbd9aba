#include "tests/fuzz/session_target.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <csignal>
#include <filesystem>

#include "jail/os/unix_socket.h"
#include "sshd/session/connection.h"
#include "tests/fuzz/stage.h"
#include "tests/fuzz/violation.h"

namespace mayfly::fuzz {

namespace {

template <typename T>
T must(Expected<T> value) {
  if (!value) violated("the harness has what it needs", value.error().text());
  return std::move(*value);
}

// Made once: making one takes longer than a whole scenario.
HostKey host_key() {
  static const HostKey made = [] {
    ::signal(SIGPIPE, SIG_IGN);  // as main of the session does
    ssh_key key = nullptr;
    if (ssh_pki_generate(SSH_KEYTYPE_ED25519, 0, &key) != SSH_OK) violated("the harness has a host key");
    return HostKey(key);
  }();
  return HostKey(ssh_key_dup(made.get()));
}

SshdConfig config_of(const Scenario& scenario) {
  SshdConfig config;
  config.access.open = scenario.ways == Ways::Open;
  config.access.keys = scenario.ways == Ways::Keys || scenario.ways == Ways::KeysAndInvites;
  config.access.invites = scenario.ways == Ways::Invites || scenario.ways == Ways::KeysAndInvites;
  return config;
}

std::pair<Fd, Fd> stream_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) violated("the harness has sockets");
  return {Fd(ends[0]), Fd(ends[1])};
}

Fd event() { return Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

std::size_t open_descriptors() {
  using Entries = std::filesystem::directory_iterator;
  return static_cast<std::size_t>(std::distance(Entries("/proc/self/fd"), Entries()));
}

// libssh closes its descriptor when it disconnects. Where it had no reason to, the end of the process does.
void close_if_left(const struct stat& was) {
  constexpr int kMostNumbers = 128;
  for (int number = 3; number < kMostNumbers; ++number) {
    struct stat now {};
    if (::fstat(number, &now) == 0 && now.st_ino == was.st_ino && now.st_dev == was.st_dev) ::close(number);
  }
}

Reached serve(const Scenario& scenario) {
  Reached reached;
  auto [connection, peer] = stream_pair();
  auto [report, listener] = stream_pair();
  SocketPair lease = must(make_seqpacket_pair(Blocking::No));
  Fd keeper = event();
  Stage stage(scenario, {std::move(peer), std::move(lease.theirs), Fd(::fcntl(keeper.get(), F_DUPFD_CLOEXEC, 3))},
              reached);
  struct stat was {};
  (void)::fstat(connection.get(), &was);
  {
    Connection session(config_of(scenario), Peer{"192.0.2.1:50422", "192.0.2.1", "192.0.2.1", false},
                       must(SupervisorClient::adopt(std::move(lease.ours))), Guardians{std::move(keeper), event()},
                       std::move(report));
    const auto end = session.serve(std::move(connection), must(Transport::prepare(host_key())));
    if (!end) violated("the session starts", end.error().text());
  }
  close_if_left(was);
  std::array<char, 8> said{};
  const ssize_t count = ::recv(listener.get(), said.data(), said.size(), MSG_DONTWAIT);
  if (count > 1 || (count == 1 && said[0] != kPeerIsAdmitted)) violated("the listener is told something else");
  stage.judge_end(count == 1);
  return reached;
}

}  // namespace

Reached play_session(std::span<const std::uint8_t> input) {
  static const HostKey warm = host_key();
  const std::size_t before = open_descriptors();
  const Reached reached = serve(read_scenario(input));
  const std::size_t after = open_descriptors();
  if (before != after)
    violated("descriptors are left behind", std::to_string(before) + " became " + std::to_string(after));
  return reached;
}

}  // namespace mayfly::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  (void)mayfly::fuzz::play_session({bytes, size});
  return 0;
}
