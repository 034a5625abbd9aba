// The stage for a real witness: the test plays the keeper, the supervisor, the inside of the jail and the peer; the
// template and its relays are the real program. Everything that a test starts dies with it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jail/os/fd.h"
#include "jail/wire/relay.h"

namespace mayfly::stage {

inline constexpr int kPatience = 5000;  // ms; generous, since other tests may run beside this one

// A process that does nothing: the keeper, the supervisor or pid 1.
class StandIn {
 public:
  StandIn();
  explicit StandIn(uid_t uid);  // its three user ids (needs root)
  ~StandIn() { kill(); }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] int pidfd() const { return pidfd_.get(); }
  [[nodiscard]] bool dies_within(int ms) const;
  void kill();

 private:
  pid_t pid_ = -1;
  Fd pidfd_;
};

struct Pair {
  Fd ours, theirs;
};
Pair socket_pair(int type);
struct Pipe {
  Fd read, write;
};
Pipe make_pipe();

bool readable_within(int fd, int ms);
// Until `count` bytes, end of file or kPatience without a byte.
std::string read_up_to(int fd, std::size_t count);
std::string read_to_end(int fd);
bool write_all(int fd, std::string_view bytes);
bool at_end_within(int fd, int ms);  // the other side is closed (after reading what is there)
std::string sha256(std::string_view bytes);
std::string digest_of(const RelayTotals& totals);
std::string tail_of(const RelayTotals& totals);
// P33. The sanitizers' own books are larger than a relay: there the check is only against growth without end.
#ifdef __SANITIZE_ADDRESS__
inline constexpr std::uint64_t kMostMemoryKib = 16'384;
#else
inline constexpr std::uint64_t kMostMemoryKib = 1024;
#endif
std::uint64_t memory_kib(pid_t pid);  // its own: without what it shares with the template's file
double cpu_seconds(pid_t pid);
std::vector<int> open_fds(pid_t pid);

// The real program, with descriptors as the keeper gives them.
class Witness {
 public:
  Witness();
  ~Witness();
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] bool ends_within(int ms) const;
  void send(const void* bytes, std::size_t size, const std::vector<int>& fds) const;
  // The relays that it has forked and that live.
  [[nodiscard]] std::vector<pid_t> relays() const;
  void close_control() { control_.reset(); }

  StandIn keeper, supervisor;

 private:
  Fd control_;
  pid_t pid_ = -1;
  Fd pidfd_;
};

enum class Input { OwnPipe, SameAsOut };  // where the peer's input comes from: a socket can be both

// One jail: three pipes or a terminal, a peer and a pid 1.
class Jail {
 public:
  static RelayOrder pipes();
  static RelayOrder terminal();
  Jail(Witness& witness, RelayOrder order, Pair peer_out = from(make_pipe()), Input input = Input::OwnPipe);

  // As inside: hands the outer ends to the relay, and waits for Attached.
  void attach();
  void attach(const StreamsMessage& message, const std::vector<int>& fds);
  // As the supervisor.
  void arm(std::string_view kill_text = "");
  void open() { command(RelayCommand::Opened); }
  void command(RelayCommand command);
  void command(const RelayMessage& message, const std::vector<int>& fds = {});
  void finish(std::string_view text);
  std::optional<RelayReport> hear(int ms = kPatience);
  // The next report, which must be this one.
  RelayReport expect(RelaySays says, int ms = kPatience);
  // What the program had left when it died: closes the jail's sides and drains.
  RelayReport drain();
  [[nodiscard]] bool relay_ends_within(int ms);

  RelayOrder order;
  Fd control;
  Fd inside;                                // the jail's end of `stream`
  Fd peer_out, peer_err, peer_in;           // what the peer holds
  Fd program_in, program_out, program_err;  // what the program holds; a terminal: the slave, in program_out
  Fd outer_in, outer_out, outer_err;        // what inside sends
  StandIn pid_one;
  Pipe kill_file;  // stands for cpu.cfs_quota_us or cgroup.kill

  static Pair from(Pipe pipe) { return {std::move(pipe.read), std::move(pipe.write)}; }

 private:
  void make_terminal();
};

}  // namespace mayfly::stage
