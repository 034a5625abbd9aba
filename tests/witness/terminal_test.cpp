#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>
#include <thread>

#include "stage.h"

using namespace mayfly;
using namespace mayfly::stage;

namespace {

// A program on the jail's terminal: a session of its own, as inside would make it. Its exit code is `body`'s.
class Program {
 public:
  Program(Jail& jail, const std::function<int(int)>& body) {
    const int slave = jail.program_out.get();
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setsid();
      ::ioctl(slave, TIOCSCTTY, 0);
      for (const int fd : open_fds(::getpid())) {
        if (fd > 2 && fd != slave) ::close(fd);
      }
      ::_exit(body(slave));
    }
    jail.program_out.reset();  // the program has the only copy
  }
  ~Program() {
    ::kill(pid_, SIGKILL);
    if (!waited_) ::waitpid(pid_, nullptr, 0);
  }
  int wait() {
    int status = -1;
    ::waitpid(pid_, &status, 0);
    waited_ = true;
    return status;
  }

 private:
  pid_t pid_ = -1;
  bool waited_ = false;
};

void make_raw(int tty) {
  termios mode{};
  ::tcgetattr(tty, &mode);
  ::cfmakeraw(&mode);
  ::tcsetattr(tty, TCSANOW, &mode);
}

RelayMessage size_of(std::uint16_t columns, std::uint16_t rows) {
  RelayMessage message;
  message.command = RelayCommand::Resize;
  message.columns = columns;
  message.rows = rows;
  return message;
}

bool has_size(int tty, int columns, int rows) {
  winsize size{};
  for (int i = 0; i < 500; ++i) {
    ::ioctl(tty, TIOCGWINSZ, &size);
    if (size.ws_col == columns && size.ws_row == rows) return true;
    ::usleep(10'000);
  }
  return false;
}

}  // namespace

TEST_CASE("a terminal carries bytes both ways in one stream, and EIO is its end") {
  Witness witness;
  Jail jail(witness, Jail::terminal());
  jail.attach();
  make_raw(jail.program_out.get());
  write_all(jail.program_out.get(), "prompt> ");
  CHECK(read_up_to(jail.peer_out.get(), 8) == "prompt> ");
  write_all(jail.peer_in.get(), "x");
  CHECK(read_up_to(jail.program_out.get(), 1) == "x");
  write_all(jail.program_out.get(), "bye");
  const RelayReport report = jail.drain();
  CHECK(report.incomplete == 0);
  CHECK(report.out.bytes == 11);
  CHECK(digest_of(report.out) == sha256("prompt> bye"));
  CHECK(report.in_bytes == 1);
  jail.finish("mayfly: ending=time-limit jail=j_test: over");
  CHECK(read_to_end(jail.peer_out.get()) == "bye\r\nmayfly: ending=time-limit jail=j_test: over\r\n");
}

TEST_CASE("10 MiB written to a terminal and an immediate exit lose nothing") {
  Witness witness;
  Jail jail(witness, Jail::terminal());
  jail.attach();
  std::string sent;
  for (int i = 0; sent.size() < (10u << 20); ++i) sent += std::to_string(i) + " ";
  make_raw(jail.program_out.get());
  Program program(jail, [&](int tty) { return write_all(tty, sent) ? 0 : 1; });
  std::string received;
  std::thread peer([&] { received = read_to_end(jail.peer_out.get()); });
  CHECK(program.wait() == 0);
  const RelayReport report = jail.drain();
  jail.finish("");
  peer.join();
  CHECK(report.incomplete == 0);
  CHECK(report.out.bytes == sent.size());
  CHECK(received == sent);
}

TEST_CASE("a hung-up terminal whose jail goes on costs no processor") {
  Witness witness;
  Jail jail(witness, Jail::terminal());
  jail.attach();
  jail.program_out.reset();
  ::usleep(50'000);
  const pid_t relay = witness.relays().at(0);
  const double before = cpu_seconds(relay);
  ::usleep(500'000);
  CHECK(cpu_seconds(relay) - before <= 0.05);
  write_all(jail.peer_in.get(), "typed into the void");
  ::usleep(200'000);
  CHECK(cpu_seconds(relay) - before <= 0.05);
  CHECK(jail.drain().incomplete == 0);
}

TEST_CASE("a terminal program that does not read its input costs no processor and blocks only the input") {
  Witness witness;
  Jail jail(witness, Jail::terminal());
  jail.attach();
  make_raw(jail.program_out.get());
  std::thread peer([fd = jail.peer_in.get()] { write_all(fd, std::string(100'000, 'k')); });
  ::usleep(300'000);
  const pid_t relay = witness.relays().at(0);
  const double before = cpu_seconds(relay);
  ::usleep(500'000);
  CHECK(cpu_seconds(relay) - before <= 0.05);
  write_all(jail.program_out.get(), "output");
  CHECK(read_up_to(jail.peer_out.get(), 6) == "output");
  CHECK(read_up_to(jail.program_out.get(), 100'000) == std::string(100'000, 'k'));
  peer.join();
}

TEST_CASE("the size of the window is set, before the streams are there too, and many changes become few") {
  Witness witness;
  Jail jail(witness, Jail::terminal());
  jail.command(size_of(100, 40));
  jail.attach();
  CHECK(has_size(jail.program_out.get(), 100, 40));
  for (std::uint16_t i = 1; i <= 50; ++i) jail.command(size_of(static_cast<std::uint16_t>(100 + i), 50));
  CHECK(has_size(jail.program_out.get(), 150, 50));
}

TEST_CASE("INT, QUIT and TSTP reach the foreground group, even in raw mode; others are not the relay's") {
  Witness witness;
  Jail jail(witness, Jail::terminal());
  jail.attach();
  make_raw(jail.program_out.get());
  Program program(jail, [](int tty) {
    ::signal(SIGQUIT, SIG_DFL);
    write_all(tty, "ready");
    while (true) ::pause();
    return 0;
  });
  CHECK(read_up_to(jail.peer_out.get(), 5) == "ready");
  RelayMessage message;
  message.command = RelayCommand::Signal;
  message.signal_number = SIGKILL;
  jail.command(message);
  message.signal_number = SIGUSR1;
  jail.command(message);
  ::usleep(50'000);
  message.signal_number = SIGQUIT;
  jail.command(message);
  const int status = program.wait();
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGQUIT);
}

TEST_CASE("a terminal program sees the end of the peer's input, as often as it reads") {
  Witness witness;
  Jail jail(witness, Jail::terminal());
  jail.attach();
  Program program(jail, [](int tty) {
    char line[100];
    const ssize_t first = ::read(tty, line, sizeof line);   // "half a line", handed over by the end
    const ssize_t second = ::read(tty, line, sizeof line);  // the end
    const ssize_t third = ::read(tty, line, sizeof line);   // still the end, for whoever reads next
    return first == 11 && second == 0 && third == 0 ? 0 : 1;
  });
  write_all(jail.peer_in.get(), "half a line");
  jail.peer_in.reset();
  CHECK(program.wait() == 0);
}

TEST_CASE("a terminal without a source is at its end at once") {
  Witness witness;
  RelayOrder order = Jail::terminal();
  order.has_in = 0;
  Jail jail(witness, order);
  jail.attach();
  Program program(jail, [](int tty) {
    char byte;
    return ::read(tty, &byte, 1) == 0 ? 0 : 1;
  });
  CHECK(program.wait() == 0);
}

TEST_CASE("a line editor in raw mode gets control-D at the end of input") {
  Witness witness;
  Jail jail(witness, Jail::terminal());
  jail.attach();
  make_raw(jail.program_out.get());
  jail.peer_in.reset();
  CHECK(read_up_to(jail.program_out.get(), 1) == "\x04");
}

TEST_CASE("when the peer's sink closes, the terminal's session is hung up") {
  Witness witness;
  Jail jail(witness, Jail::terminal());
  jail.attach();
  Program program(jail, [](int tty) {
    write_all(tty, "ready");
    while (true) ::pause();
    return 0;
  });
  CHECK(read_up_to(jail.peer_out.get(), 5) == "ready");
  jail.peer_out.reset();
  jail.expect(RelaySays::PeerGone);
  const int status = program.wait();
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGHUP);
}

TEST_CASE("what is not the master of a pty is refused as a terminal") {
  Witness witness;
  Jail jail(witness, Jail::terminal());
  StreamsMessage message;
  message.count = 1;
  SECTION("the slave") { jail.attach(message, {jail.program_out.get()}); }
  SECTION("a pipe") { jail.attach(message, {jail.kill_file.read.get()}); }
  jail.expect(RelaySays::Broken);
}
