#include "tests/e2e/guest/guest.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace mayfly::test {

namespace {

sockaddr_in address_of(const std::string& text, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  return address;
}

const sockaddr* generic(const sockaddr_in& address) { return reinterpret_cast<const sockaddr*>(&address); }

}  // namespace

Expected<Fd> connect_from(const Place& place) {
  Fd connection(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!connection) return failure("make a socket", errno);
  const sockaddr_in from = address_of(place.source, 0), to = address_of("127.0.0.1", place.port);
  const int yes = 1;
  // The port is chosen by connect(2), for the pair of addresses: many cycles do not use all of them up.
  ::setsockopt(connection.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
  ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (::bind(connection.get(), generic(from), sizeof from) != 0) return failure("bind to", errno, place.source);
  if (::connect(connection.get(), generic(to), sizeof to) != 0) return failure("connect from", errno, place.source);
  return connection;
}

std::string first_bytes(const Fd& connection) {
  std::array<char, 255> bytes{};
  const ssize_t count = ::recv(connection.get(), bytes.data(), bytes.size(), 0);
  return count > 0 ? std::string(bytes.data(), static_cast<std::size_t>(count)) : "";
}

void Guest::Leave::operator()(ssh_session session) const {
  ssh_disconnect(session);
  ssh_free(session);
}

tl::unexpected<Failure> Guest::refused(const char* doing) const {
  return failure(doing, 0, {}, ssh_get_error(session_.get()));
}

Expected<Guest> Guest::connect(const Place& place, const std::string& user) {
  Fd connection = TRY(connect_from(place));
  const socket_t number = connection.get();
  Guest guest(std::move(connection), ssh_new());
  ssh_session session = guest.session_.get();
  if (session == nullptr) return failure("make an ssh session", ENOMEM);
  const bool no = false;
  const long patience = kPatienceSeconds;
  ssh_options_set(session, SSH_OPTIONS_PROCESS_CONFIG, &no);
  ssh_options_set(session, SSH_OPTIONS_HOST, "127.0.0.1");
  ssh_options_set(session, SSH_OPTIONS_USER, user.c_str());
  ssh_options_set(session, SSH_OPTIONS_TIMEOUT, &patience);
  ssh_options_set(session, SSH_OPTIONS_KEY_EXCHANGE, "curve25519-sha256");
  ssh_options_set(session, SSH_OPTIONS_FD, &number);
  if (ssh_connect(session) != SSH_OK) return guest.refused("exchange keys");
  return guest;
}

Expected<bool> Guest::log_in(const std::string& code) {
  const int judged = code.empty() ? ssh_userauth_none(session_.get(), nullptr)
                                  : ssh_userauth_password(session_.get(), nullptr, code.c_str());
  if (judged == SSH_AUTH_SUCCESS) return true;
  if (judged == SSH_AUTH_DENIED) return false;
  return refused("log in");
}

Expected<void> Guest::start(On on, const std::string& command) {
  channel_ = ssh_channel_new(session_.get());
  if (channel_ == nullptr) return failure("make a channel", ENOMEM);
  if (ssh_channel_open_session(channel_) != SSH_OK) return refused("open a channel");
  if (on == On::Terminal && ssh_channel_request_pty_size(channel_, "xterm", 80, 24) != SSH_OK)
    return refused("ask for a terminal");
  const int started = command.empty() ? ssh_channel_request_shell(channel_)  //
                                      : ssh_channel_request_exec(channel_, command.c_str());
  if (started != SSH_OK) return refused("start a program");
  return {};
}

Expected<void> Guest::type(std::string_view text) {
  const int written = ssh_channel_write(channel_, text.data(), static_cast<std::uint32_t>(text.size()));
  if (written != static_cast<int>(text.size())) return refused("type");
  return {};
}

Expected<std::string> Guest::read_until(std::string_view wanted) {
  std::string text;
  std::array<char, 32768> bytes{};
  while (text.find(wanted) == std::string::npos) {
    const int count = ssh_channel_read_timeout(channel_, bytes.data(), bytes.size(), 0, kPatienceSeconds * 1000);
    if (count <= 0) return failure("read until", 0, std::string(wanted), "came: " + text + complaint());
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
  return text;
}

// What stands on standard error: the reason line, when the service has refused.
std::string Guest::complaint() {
  std::array<char, 4096> bytes{};
  const int count = ssh_channel_read_timeout(channel_, bytes.data(), bytes.size(), 1, 1000);
  return count > 0 ? std::string(bytes.data(), static_cast<std::size_t>(count)) : "";
}

Expected<Outcome> Guest::finish() {
  Outcome outcome;
  // Standard error last: libssh keeps it until then, and until it is taken the channel is not at its end.
  for (const int is_stderr : {0, 1}) {
    std::array<char, 32768> bytes{};
    for (int count = 1; count > 0;) {
      count = ssh_channel_read_timeout(channel_, bytes.data(), bytes.size(), is_stderr, kPatienceSeconds * 1000);
      if (count < 0) return refused("read to the end");
      outcome.output.append(bytes.data(), static_cast<std::size_t>(count));
    }
  }
  if (ssh_channel_is_eof(channel_) == 0) return failure("read to the end in time", 0);
  outcome.status = ssh_channel_get_exit_status(channel_);
  ssh_channel_close(channel_);
  return outcome;
}

void Guest::vanish() {
  const linger at_once{1, 0};
  (void)::setsockopt(descriptor(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ssh_silent_disconnect(session_.get());
  (void)connection_.release();  // this one does close it
}

}  // namespace mayfly::test
