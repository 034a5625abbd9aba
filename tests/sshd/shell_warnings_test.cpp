// A channel between the stock OpenSSH client and a played supervisor, at hours of the test's choosing.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <csignal>

#include "jail/os/child.h"
#include "jail/os/clock.h"
#include "jail/os/memfd.h"
#include "jail/os/unix_socket.h"
#include "sshd/session/channel.h"

using namespace mayfly;

namespace {

template <typename T>
T must(Expected<T> value) {
  if (!value) throw std::runtime_error(value.error().text());
  return std::move(*value);
}

struct PipePair {
  Fd read, write;
  PipePair() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    read = Fd(ends[0]);
    write = Fd(ends[1]);
  }
};

std::string read_what_is_there(const Fd& from) {
  std::array<char, 4096> bytes{};
  pollfd entry{from.get(), POLLIN, 0};
  if (::poll(&entry, 1, 0) <= 0) return {};
  const ssize_t count = ::read(from.get(), bytes.data(), bytes.size());
  return {bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class Session {
 public:
  // `command`: "" for a shell.
  Session(const std::string& command, const Limits& limits) : limits_(limits) {
    owner_.profile = "run";
    owner_.peer = "127.0.0.1:1";
    owner_.principal = "anonymous@127.0.0.1";
    SocketPair lease = must(make_seqpacket_pair(Blocking::No));
    supervisor_ = std::move(lease.theirs);
    client_.emplace(must(SupervisorClient::adopt(std::move(lease.ours))));
    const Fd listener = listen();
    start_ssh(command);
    accept(listener);
    until([this] { return channel_ && channel_->run(); });
    say_running();
  }
  ~Session() {
    (void)ssh_->signal(SIGKILL);
    (void)ssh_->wait();
    // What libssh has is never freed (transport.h); a sanitizer must still see who holds it.
    static auto* const kept = new std::vector<std::unique_ptr<Transport>>;
    kept->push_back(std::move(transport_));
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  template <typename Condition>
  void until(Condition holds) {
    const Microseconds end = monotonic_now() + 20_s;
    while (!holds()) {
      if (monotonic_now() > end) throw std::runtime_error("not in time; shown so far: " + shown);
      turn();
    }
  }
  // Long enough for whatever would be said now to arrive.
  void settle() {
    for (int i = 0; i < 30; ++i) turn();
  }
  void type(std::string_view text) {
    if (::write(keyboard_.write.get(), text.data(), text.size()) < 0) throw std::runtime_error("ssh is gone");
    until([this] { return !read_what_is_there(jail_[1]).empty(); });
  }
  void jail_writes(std::string_view text) const {
    if (::write(jail_[0].get(), text.data(), text.size()) < 0) throw std::runtime_error("the channel is gone");
  }
  void move_to(Milliseconds since_running) { now_ = start_ + since_running; }
  [[nodiscard]] std::optional<Microseconds> deadline() const {
    const auto at = channel_->deadline();
    return at ? std::optional(*at - start_) : std::nullopt;
  }

  std::string shown;  // by ssh

 private:
  Fd listen() {
    Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    if (::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), length) != 0 ||
        ::listen(listener.get(), 1) != 0 ||
        ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
      throw std::runtime_error("cannot listen");
    port_ = ntohs(address.sin_port);
    return listener;
  }

  void start_ssh(const std::string& command) {
    ChildProgram ssh;
    ssh.path = "/usr/bin/ssh";
    ssh.argv = {"ssh",          "-F",
                "none",         "-tt",
                "-o",           "StrictHostKeyChecking=no",
                "-o",           "UserKnownHostsFile=/dev/null",
                "-o",           "LogLevel=ERROR",
                "-o",           "IdentityFile=none",
                "-p",           std::to_string(port_),
                "run@127.0.0.1"};
    if (!command.empty()) ssh.argv.push_back(command);
    ssh.fds = {{keyboard_.read.get(), 0}, {screen_.write.get(), 1}};
    ssh_.emplace(must(Child::start(ssh)));
  }

  void accept(const Fd& listener) {
    Fd connection(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const Fd key_file = must(make_sealed_memfd("key", must(generate_host_key())));
    callbacks_.userdata = this;
    callbacks_.auth_none_function = [](ssh_session, const char*, void*) -> int { return SSH_AUTH_SUCCESS; };
    callbacks_.service_request_function = [](ssh_session, const char*, void*) { return 0; };
    callbacks_.channel_open_request_session_function = [](ssh_session, void* self) {
      Session& session = *static_cast<Session*>(self);
      session.channel_ = Channel::open(*session.transport_);
      return session.channel_->handle();
    };
    ssh_callbacks_init(&callbacks_);
    transport_ = must(Transport::prepare(must(read_host_key(key_file))));
    REQUIRE(transport_->accept(std::move(connection), &callbacks_));
  }

  // The played supervisor opens the gate; the jail's end of the streams is the test's.
  void say_running() {
    Received open = must(receive_message(supervisor_.get(), 65536, 4));
    for (Fd& fd : open.fds) jail_.push_back(std::move(fd));
    Running running;
    running.run = *channel_->run();
    running.id = "j_abcdefghijkl";
    running.limits = limits_;
    const std::string text = encode(FromSupervisor(running));
    if (!send_message(supervisor_.get(), std::as_bytes(std::span(text)), {})) throw std::runtime_error("not sent");
  }

  void turn() {
    pollfd entry{transport_->descriptor(), transport_->interest(), 0};
    (void)::poll(&entry, 1, 5);
    if (!transport_->turn()) throw std::runtime_error("the connection is gone; shown so far: " + shown);
    if (channel_) {
      while (const auto message = must(client_->receive())) channel_->receive(*message);
      channel_->advance(*client_, owner_, now_);
    }
    shown += read_what_is_there(screen_.read);
  }

  Limits limits_;
  SessionOwner owner_;
  Microseconds start_{1'000'000'000};
  Microseconds now_ = start_;
  std::uint16_t port_ = 0;
  PipePair keyboard_, screen_;
  std::optional<Child> ssh_;
  Fd supervisor_;
  std::vector<Fd> jail_;  // out, in
  std::optional<SupervisorClient> client_;
  ssh_server_callbacks_struct callbacks_{};
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Channel> channel_;
};

constexpr std::string_view kIdle = "\r\nmayfly: no input for 14 min; this jail ends in 1 min unless you type\r\n";
constexpr std::string_view kWall = "\r\nmayfly: this jail ends in 1 min (time limit)\r\n";

}  // namespace

TEST_CASE(
    "a shell on a terminal is told a minute before it is silent for too long, and a minute before its time is over") {
  Session session("", kShellLimits.defaults);
  session.until([&] { return count_of(session.shown, "also when your connection drops\r\n") == 1; });
  CHECK(session.deadline() == 14_min);
  session.move_to(14_min - 1_ms);
  session.settle();
  CHECK(count_of(session.shown, "ends in") == 0);

  session.jail_writes("$ ");
  session.until([&] { return session.shown.ends_with("$ "); });
  session.move_to(14_min);
  session.until([&] { return session.shown.ends_with("$ " + std::string(kIdle)); });
  session.settle();
  CHECK(count_of(session.shown, kIdle) == 1);
  CHECK(session.deadline() == 59_min);

  session.type("ls\n");
  session.until([&] { return session.deadline() == 28_min; });
  session.move_to(28_min);
  session.until([&] { return count_of(session.shown, kIdle) == 2; });

  session.type("a");
  session.move_to(29_min);
  session.type("b");
  session.until([&] { return session.deadline() == 43_min; });
  session.move_to(59_min);
  session.until([&] { return count_of(session.shown, kWall) == 1; });
  session.move_to(60_min);
  session.settle();
  CHECK(count_of(session.shown, kWall) == 1);
  CHECK_FALSE(session.deadline());
}

TEST_CASE("a command is not warned, even on a terminal: its output is its own") {
  Session session("make", kShellLimits.defaults);
  session.move_to(59_min);
  session.settle();
  session.jail_writes("all of it\r\n");
  session.until([&] { return session.shown.ends_with("all of it\r\n"); });
  CHECK(session.shown == "all of it\r\n");
}
