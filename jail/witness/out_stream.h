// OutStream: one output stream of a jail on its way to the peer. Reads the jail's side, counts and digests everything,
// passes on what the caps allow, keeps the last bytes of what they do not, and holds the program up when the peer
// does not take it (kRelayBuffer). Memory is fixed and belongs to the caller.
//
// A peer that has closed its side costs the program its side too (it gets SIGPIPE or, on a terminal, a hang-up).
// A pty that reports EIO has no reader or writer left; it is kept, unread, until the drain, since a slave can be opened
// again.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "jail/os/fd.h"
#include "jail/wire/relay.h"
#include "jail/witness/byte_queue.h"
#include "jail/witness/digest.h"
#include "jail/witness/peer_fd.h"
#include "jail/witness/poll_set.h"
#include "jail/witness/tail_ring.h"

namespace mayfly {

// The ceiling over all output streams of one jail.
class OutputBudget {
 public:
  explicit OutputBudget(std::uint64_t ceiling) : ceiling_(ceiling) {}
  // Counts `written` more bytes; returns how many of them are still under the ceiling.
  std::uint64_t grant(std::uint64_t written);
  [[nodiscard]] bool exceeded() const { return used_ > ceiling_; }

 private:
  std::uint64_t ceiling_;
  std::uint64_t used_ = 0;
};

// How far a read of everything that is left has come.
enum class Reached {
  End,    // nothing more can come
  Later,  // somebody holds the other side open
  Full,   // more than a pipe can hold: not a dead jail's
};

class OutStream {
 public:
  // kept: 0 = everything is passed on.
  OutStream(Fd sink, std::uint64_t kept, std::span<char> memory, std::span<char> tail);

  // nullptr, or why this sink is not one (peer_fd.h).
  [[nodiscard]] const char* prepare_sink() const { return prepare_peer(sink_, Direction::Write); }
  void attach(Fd source) { source_ = std::move(source); }
  void watch(PollSet& set);
  // One turn: takes from the jail, gives to the peer. Bytes given.
  std::size_t pump(const PollSet& set, OutputBudget& budget);

  // The jail is dead: reads whatever its side still holds, without waiting.
  Reached drain(OutputBudget& budget);
  void close_source() { source_.reset(); }
  void totals(RelayTotals& into) const;

  // A line of ours after the program's bytes.
  void append_line(std::string_view text, std::string_view line_end);
  [[nodiscard]] bool delivered() const { return !sink_ || queue_.empty(); }
  // The peer has let go of it (not we).
  [[nodiscard]] bool sink_gone() const { return !sink_ && !ended_; }
  // The peer sees the end of this stream.
  void end_sink() {
    ended_ |= static_cast<bool>(sink_);
    sink_.reset();
  }
  [[nodiscard]] int source() const { return source_.get(); }

 private:
  enum class Read { Some, Nothing, End };
  [[nodiscard]] bool passing() const { return left_ > 0 && !truncated_; }
  [[nodiscard]] bool wants_more() const;
  Read read_once(std::size_t most, OutputBudget& budget);
  void account(std::span<const char> bytes, OutputBudget& budget);
  std::size_t give();
  void lose_sink();

  Fd source_, sink_;
  PollSet::Place source_place_ = -1, sink_place_ = -1;
  ByteQueue queue_;
  TailRing tail_;
  Digest digest_;
  std::size_t capacity_;
  std::uint64_t left_;  // of what may be kept
  std::uint64_t bytes_ = 0;
  char last_ = '\n';  // byte passed on
  bool truncated_ = false;
  bool hung_up_ = false;  // EIO seen
  bool ended_ = false;    // by us
  bool sink_is_full_ = false;
};

}  // namespace mayfly
