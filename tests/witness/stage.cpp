#include "stage.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "jail/witness/digest.h"

namespace mayfly::stage {
namespace {

pid_t start_sleeper(uid_t uid, bool change) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (change && (::setresgid(uid, uid, uid) != 0 || ::setresuid(uid, uid, uid) != 0)) ::_exit(1);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::close_range(3, ~0u, 0);
  while (true) ::pause();
}

Fd pidfd_of(pid_t pid) { return Fd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))}; }

// Runs between fork and exec: numbers first out of the way, then into place.
[[noreturn]] void exec_witness(int keeper, int control, int supervisor) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int high[] = {::fcntl(keeper, F_DUPFD, 100), ::fcntl(control, F_DUPFD, 100), ::fcntl(supervisor, F_DUPFD, 100)};
  for (int i = 0; i < 3; ++i) ::dup2(high[i], 3 + i);
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, 0);
  ::close_range(6, ~0u, 0);
  ::execl(MAYFLY_WITNESS, "mayfly-witness", nullptr);
  ::_exit(127);
}

}  // namespace

StandIn::StandIn() : pid_(start_sleeper(0, false)), pidfd_(pidfd_of(pid_)) {}
StandIn::StandIn(uid_t uid) : pid_(start_sleeper(uid, true)), pidfd_(pidfd_of(pid_)) {}

bool StandIn::dies_within(int ms) const { return readable_within(pidfd_.get(), ms); }

void StandIn::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

Pair socket_pair(int type) {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) == 0);
  return {Fd{ends[0]}, Fd{ends[1]}};
}

Pipe make_pipe() {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  return {Fd{ends[0]}, Fd{ends[1]}};
}

bool readable_within(int fd, int ms) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, ms) == 1;
}

std::string read_up_to(int fd, std::size_t count) {
  std::string all;
  std::string chunk(65536, '\0');
  while (all.size() < count && readable_within(fd, kPatience)) {
    const ssize_t got = ::read(fd, chunk.data(), std::min(chunk.size(), count - all.size()));
    if (got <= 0) break;
    all.append(chunk, 0, static_cast<std::size_t>(got));
  }
  return all;
}

std::string read_to_end(int fd) { return read_up_to(fd, std::size_t{1} << 40); }

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t given = ::write(fd, bytes.data(), bytes.size());
    if (given <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(given));
  }
  return true;
}

bool at_end_within(int fd, int ms) {
  char byte = 0;
  return readable_within(fd, ms) && ::read(fd, &byte, 1) <= 0;
}

std::string hex(const std::array<std::uint8_t, 32>& digest) {
  std::string text;
  for (const std::uint8_t byte : digest) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", byte);
    text += two;
  }
  return text;
}

std::string sha256(std::string_view bytes) {
  Digest digest;
  digest.add(bytes);
  return hex(digest.value());
}

std::string digest_of(const RelayTotals& totals) { return hex(totals.sha256); }
std::string tail_of(const RelayTotals& totals) { return {totals.tail.data(), totals.tail_length}; }

std::uint64_t memory_kib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("RssAnon:", 0) == 0) return std::stoull(line.substr(8));
  }
  return 0;
}

double cpu_seconds(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;  // state .. cmajflt; then utime, stime (proc(5))
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::vector<int> open_fds(pid_t pid) {
  std::vector<int> numbers;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd")) {
    numbers.push_back(std::stoi(entry.path().filename().string()));
  }
  return numbers;
}

void send_with_fds(int socket, const void* bytes, std::size_t size, const std::vector<int>& fds) {
  iovec part{const_cast<void*>(bytes), size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 64)] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(rights), fds.data(), sizeof(int) * fds.size());
  }
  REQUIRE(::sendmsg(socket, &header, MSG_NOSIGNAL) == static_cast<ssize_t>(size));
}

Witness::Witness() {
  ::signal(SIGPIPE, SIG_IGN);
  Pair control = socket_pair(SOCK_SEQPACKET);
  control_ = std::move(control.ours);
  pid_ = ::fork();
  if (pid_ == 0) exec_witness(keeper.pidfd(), control.theirs.get(), supervisor.pidfd());
  pidfd_ = pidfd_of(pid_);
}

Witness::~Witness() {
  for (const pid_t relay : relays()) ::kill(relay, SIGKILL);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool Witness::ends_within(int ms) const { return readable_within(pidfd_.get(), ms); }

void Witness::send(const void* bytes, std::size_t size, const std::vector<int>& fds) const {
  send_with_fds(control_.get(), bytes, size, fds);
}

std::vector<pid_t> Witness::relays() const {
  const std::string path = "/proc/" + std::to_string(pid_) + "/task/" + std::to_string(pid_) + "/children";
  std::ifstream children(path);
  std::vector<pid_t> all;
  for (pid_t child = 0; children >> child;) all.push_back(child);
  return all;
}

RelayOrder Jail::pipes() {
  RelayOrder order;
  std::strcpy(order.jail, "j_test");
  order.rootless = 1;
  order.has_in = order.has_err = 1;
  order.last_line = 1;
  order.output_ceiling = std::uint64_t{1} << 40;
  order.wall_ms = 60'000;
  return order;
}

RelayOrder Jail::terminal() {
  RelayOrder order = pipes();
  order.terminal = 1;
  order.has_err = 0;
  return order;
}

Jail::Jail(Witness& witness, RelayOrder given, Pair out, Input input) : order(given), kill_file(make_pipe()) {
  Pair controls = socket_pair(SOCK_SEQPACKET), streams = socket_pair(SOCK_SEQPACKET);
  control = std::move(controls.ours);
  inside = std::move(streams.ours);
  peer_out = std::move(out.ours);
  Pipe err = make_pipe(), in = make_pipe();
  std::vector<int> fds{controls.theirs.get(), streams.theirs.get(), out.theirs.get()};
  if (order.has_err == 1) fds.push_back(err.write.get());
  if (order.has_in == 1) fds.push_back(input == Input::OwnPipe ? in.read.get() : out.theirs.get());
  witness.send(&order, sizeof order, fds);
  peer_err = std::move(err.read);
  peer_in = std::move(in.write);
  if (order.terminal == 1) {
    make_terminal();
    return;
  }
  Pipe jail_in = make_pipe(), jail_out = make_pipe(), jail_err = make_pipe();
  program_in = std::move(jail_in.read);
  program_out = std::move(jail_out.write);
  program_err = std::move(jail_err.write);
  outer_in = std::move(jail_in.write);
  outer_out = std::move(jail_out.read);
  outer_err = std::move(jail_err.read);
}

void Jail::make_terminal() {
  outer_out = Fd{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  int unlock = 0;
  REQUIRE(::ioctl(outer_out.get(), TIOCSPTLCK, &unlock) == 0);
  program_out = Fd{::ioctl(outer_out.get(), TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC)};
  REQUIRE(program_out);
}

void Jail::attach() {
  StreamsMessage message;
  message.count = order.terminal == 1 ? 1 : 3;
  std::vector<int> fds{outer_out.get()};
  if (order.terminal == 0) fds = {outer_in.get(), outer_out.get(), outer_err.get()};
  attach(message, fds);
  outer_in.reset();
  outer_out.reset();
  outer_err.reset();
  expect(RelaySays::Attached);
}

void Jail::attach(const StreamsMessage& message, const std::vector<int>& fds) {
  send_with_fds(inside.get(), &message, sizeof message, fds);
  inside.reset();
}

void Jail::arm(std::string_view kill_text) {
  RelayMessage message;
  message.command = RelayCommand::Attach;
  std::vector<int> fds{pid_one.pidfd()};
  if (!kill_text.empty()) {
    message.has_kill = 1;
    kill_text.copy(message.kill_text, sizeof message.kill_text - 1);
    fds.push_back(kill_file.write.get());
  }
  command(message, fds);
}

void Jail::command(RelayCommand wanted) {
  RelayMessage message;
  message.command = wanted;
  command(message);
}

void Jail::command(const RelayMessage& message, const std::vector<int>& fds) {
  send_with_fds(control.get(), &message, sizeof message, fds);
}

void Jail::finish(std::string_view text) {
  RelayMessage message;
  message.command = RelayCommand::Finish;
  text.copy(message.text, sizeof message.text - 1);
  command(message);
}

std::optional<RelayReport> Jail::hear(int ms) {
  std::vector<std::byte> message(sizeof(RelayReport) + 1);
  if (!readable_within(control.get(), ms)) return std::nullopt;
  const ssize_t got = ::recv(control.get(), message.data(), message.size(), 0);
  RelayReport report;
  if (got <= 0 || !unpack_report(std::span(message).first(static_cast<std::size_t>(got)), report)) return std::nullopt;
  return report;
}

RelayReport Jail::expect(RelaySays says, int ms) {
  const std::optional<RelayReport> report = hear(ms);
  REQUIRE(report.has_value());
  INFO("the relay says: " << report->text << " errno " << report->error);
  REQUIRE(static_cast<int>(report->says) == static_cast<int>(says));
  return *report;
}

RelayReport Jail::drain() {
  program_in.reset();
  program_out.reset();
  program_err.reset();
  command(RelayCommand::Drain);
  return expect(RelaySays::Drained);
}

bool Jail::relay_ends_within(int ms) {
  char byte = 0;
  return readable_within(control.get(), ms) && ::recv(control.get(), &byte, 1, 0) <= 0;
}

}  // namespace mayfly::stage
