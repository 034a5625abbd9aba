#include "jail/cli/handed_listeners.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "jail/os/unix_socket.h"
#include "jail/spec/escape.h"

namespace mayfly {

namespace {

constexpr int kFirstHanded = 3;
constexpr std::size_t kMostHanded = 2;  // one for each name

std::optional<long> number(const char* text) {
  long value = 0;
  const char* const end = text + std::strlen(text);
  const auto [stopped, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

std::vector<std::string> words_between_colons(const std::string& text) {
  std::vector<std::string> words;
  std::size_t from = 0;
  for (std::size_t to = text.find(':'); to != std::string::npos; from = to + 1, to = text.find(':', from))
    words.push_back(text.substr(from, to - from));
  words.push_back(text.substr(from));
  return words;
}

int option(const Fd& socket, int name) {
  int value = -1;
  socklen_t length = sizeof value;
  return ::getsockopt(socket.get(), SOL_SOCKET, name, &value, &length) == 0 ? value : -1;
}

}  // namespace

Expected<std::vector<std::string>> handed_names(const ListenEnvironment& environment, pid_t self) {
  std::vector<std::string> names;
  if (environment.pid == nullptr || environment.fds == nullptr || number(environment.pid) != self) return names;
  const auto count = number(environment.fds);
  if (!count || *count < 0) return failure("take sockets", 0, "LISTEN_FDS", "it is not a number");
  if (*count == 0) return names;
  if (environment.names != nullptr) names = words_between_colons(environment.names);
  if (names.size() != static_cast<std::size_t>(*count))
    return failure("take sockets", 0, "LISTEN_FDNAMES",
                   "each of " + std::to_string(*count) + " sockets needs a name (FileDescriptorName=): ssh or http");
  for (const std::string& name : names)
    if (name != "ssh" && name != "http")
      return failure("take sockets", 0, "\"" + escape(name, 40) + "\"",
                     "no socket of this name is known, only ssh and http (FileDescriptorName=)");
  if (names.size() > kMostHanded || (names.size() == 2 && names[0] == names[1]))
    return failure("take sockets", 0, names[0], "one socket of a name is all that the service can use");
  return names;
}

Expected<TcpListener> adopt_listener(Fd socket, const std::string& what) {
  if (::fcntl(socket.get(), F_SETFD, FD_CLOEXEC) != 0) return failure("take the socket for " + what, errno);
  const int family = option(socket, SO_DOMAIN);
  if (option(socket, SO_PROTOCOL) != IPPROTO_TCP || (family != AF_INET && family != AF_INET6))
    return failure("take the socket for " + what, 0, {}, "it is not a TCP socket (ListenStream=ADDRESS:PORT)");
  if (option(socket, SO_ACCEPTCONN) != 1)
    return failure("take the socket for " + what, 0, {}, "it does not listen; it may be a connection (Accept=no)");
  TRY(set_nonblocking(socket.get(), Blocking::No));
  TcpAddress bound = TRY(bound_address(socket, what));
  return TcpListener{std::move(socket), std::move(bound)};
}

Expected<HandedListeners> take_handed_listeners() {
  const auto names =
      handed_names({::getenv("LISTEN_PID"), ::getenv("LISTEN_FDS"), ::getenv("LISTEN_FDNAMES")}, ::getpid());
  for (const char* variable : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(variable);
  if (!names) return tl::make_unexpected(names.error());
  HandedListeners handed;
  int next = kFirstHanded;
  for (const std::string& name : *names)
    (name == "ssh" ? handed.ssh : handed.http) = TRY(adopt_listener(Fd(next++), name));
  return handed;
}

}  // namespace mayfly
