// What the supervisor and a relay say to each other, and what a relay and the inside of its jail say once.
// Fixed structs on SEQPACKET sockets.
//
// supervisor -> witness template (its stdin-like control socket, fd 3): RelayOrder with these descriptors in order:
//   0 control  the relay's end of its own control socket with the supervisor
//   1 stream   the relay's end of the socket to the inside of the jail
//   2 out      peer's sink for stdout or the terminal: a pipe or Unix stream socket, write side
//   3 err      peer's sink for stderr; absent with a terminal
//   next in    peer's source for stdin: pipe or Unix stream socket, read side; absent: stdin is at its end at once
//   (has_err, has_in say which are there)
// The template forks; the relay takes over; the template answers nothing. A relay that dies closes `control`,
// which is how the supervisor knows. After an order with make_ahead the template forks the next relay in a quiet
// moment: that one takes the next order from the same socket by itself (decision 0008).
//
// inside -> relay, once, on `stream`: StreamsMessage with the outer ends:
//   pipes: 0 write end of stdin, 1 read end of stdout, 2 read end of stderr;  pty: 0 the master
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace mayfly {

struct RelayOrder {
  static constexpr std::uint32_t kMagic = 0x6d61'7903;
  std::uint32_t magic = kMagic;
  char jail[32] = {};
  std::uint32_t relay_uid =
      0;  // as root: becomes this uid (euid, suid), with ruid = init_uid so that it may kill pid 1
  std::uint32_t init_uid = 0;
  std::uint32_t rootless = 0;
  std::uint32_t terminal = 0;
  std::uint32_t has_in = 0, has_err = 0;
  std::uint32_t make_ahead = 0;      // 1: the next relay may be forked before its order
  std::uint32_t last_line = 0;       // 1: Finish may bring a line, so that the sinks stay open until then
  std::uint64_t output_kept = 0;     // per stream; 0: streamed whole
  std::uint64_t output_ceiling = 0;  // both streams
  std::uint64_t wall_ms = 0, idle_ms = 0;
};

struct StreamsMessage {
  static constexpr std::uint32_t kMagic = 0x6d61'7904;
  std::uint32_t magic = kMagic;
  std::uint32_t count = 0;  // 3 pipes or 1 pty master
};

enum class RelayCommand : std::uint32_t {
  Attach,  // fds: pidfd of pid 1, and, when has_kill, a descriptor that lifts the CPU quota or kills the cgroup
           // (see kill_text). Sent as soon as pid 1 exists.
  Opened,  // the gate is open: wall and idle time start now
  Resize,  // columns, rows: TIOCSWINSZ
  Signal,  // signal_number: TIOCSIG to the terminal's foreground group (INT, QUIT, TSTP); ignored without a terminal
  Drain,   // the jail is dead: read every pipe to its end, kDrainLimit at most, close them, answer Drained. A relay
           // that was given the pidfd does so by itself when pid 1 is dead; it ignores a second time
  Finish,  // hand out what remains at the peer's pace, then close the peer's descriptors and exit.
           // `text`: a line to be written after the rest (the reason line), to stderr or the terminal; may be empty
};

struct RelayMessage {
  RelayCommand command = RelayCommand::Attach;
  std::uint32_t has_kill = 0;
  char kill_text[16] = {};  // what to write to the kill descriptor: "-1" (cpu.cfs_quota_us) or "1" (cgroup.kill)
  std::uint16_t columns = 0, rows = 0;
  std::int32_t signal_number = 0;
  char text[1024] = {};
};

enum class RelaySays : std::uint32_t {
  Attached,   // the streams from inside are here
  Ceiling,    // more than output_ceiling: end it
  Idle,       // no byte from the peer for idle_ms
  Backup,     // wall_ms + kWallBackup passed and the relay has killed pid 1 itself
  PeerGone,   // the peer closed every sink while the jail ran
  Drained,    // pid 1 is dead, or Drain came, and every pipe is read: totals are in this message
  Delivered,  // all was handed to the peer; the relay exits now
  Broken,     // step failed: text
};

struct RelayTotals {
  std::uint64_t bytes = 0;
  std::array<std::uint8_t, 32> sha256{};
  std::uint32_t truncated = 0;
  std::uint32_t tail_length = 0;
  std::array<char, 8192> tail{};  // what the program wrote last and was not passed on
};

struct RelayReport {
  RelaySays says = RelaySays::Broken;
  std::int32_t error = 0;
  char text[128] = {};
  std::uint32_t incomplete = 0;  // Drained: the second was over before every pipe was at its end
  std::uint32_t made_ahead = 0;  // this relay was forked before its order
  std::uint64_t in_bytes = 0;    // from the peer, passed into the jail
  RelayTotals out, err;          // only with Drained
};

// Travels whole, or, where there are no tails, as everything before them.
inline constexpr std::size_t kReportHead = offsetof(RelayReport, out);
inline constexpr std::size_t kTotalsHead = offsetof(RelayTotals, tail);
inline constexpr std::size_t kShortReport = kReportHead + 2 * kTotalsHead;

inline bool has_tail(const RelayReport& report) { return report.out.tail_length != 0 || report.err.tail_length != 0; }

inline std::array<std::byte, kShortReport> short_report(const RelayReport& report) {
  std::array<std::byte, kShortReport> packed;
  std::memcpy(packed.data(), &report, kReportHead);
  std::memcpy(packed.data() + kReportHead, &report.out, kTotalsHead);
  std::memcpy(packed.data() + kReportHead + kTotalsHead, &report.err, kTotalsHead);
  return packed;
}

// `into` is new. False: a message of neither size.
inline bool unpack_report(std::span<const std::byte> message, RelayReport& into) {
  void* const whole = &into;  // trivially copyable
  if (message.size() == sizeof into) {
    std::memcpy(whole, message.data(), sizeof into);
    return true;
  }
  if (message.size() != kShortReport) return false;
  void* const out = &into.out;
  void* const err = &into.err;
  std::memcpy(whole, message.data(), kReportHead);
  std::memcpy(out, message.data() + kReportHead, kTotalsHead);
  std::memcpy(err, message.data() + kReportHead + kTotalsHead, kTotalsHead);
  return !has_tail(into);
}

}  // namespace mayfly
