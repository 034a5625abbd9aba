// InStream: the peer's input on its way into the jail. A program that does not read it holds up this stream and nothing
// else; one that has closed its side gets the rest thrown away (the peer is not punished for it). The peer's end of
// input closes the jail's side, or on a terminal is typed (end_of_input.h).
#pragma once

#include <cstdint>
#include <span>

#include "jail/os/fd.h"
#include "jail/spec/units.h"
#include "jail/witness/byte_queue.h"
#include "jail/witness/peer_fd.h"
#include "jail/witness/poll_set.h"

namespace mayfly {

enum class JailSide { Pipe, Terminal };

class InStream {
 public:
  static constexpr Microseconds kNever = Microseconds::max();

  // No source: the input is at its end from the start.
  InStream(Fd source, JailSide side, std::span<char> memory);

  // nullptr, or why this source is not one (peer_fd.h).
  [[nodiscard]] const char* prepare_source() const {
    return source_ ? prepare_peer(source_, Direction::Read) : nullptr;
  }
  void attach(Fd sink);
  void watch(PollSet& set);
  // One turn; true: the peer has sent something.
  bool pump(const PollSet& set);
  // Types the end of input when it is time to.
  void tick(Microseconds now);
  [[nodiscard]] Microseconds deadline() const { return next_end_; }

  void close_jail_side();
  void close_peer_side() { source_.reset(); }
  [[nodiscard]] std::uint64_t passed_in() const { return passed_in_; }

 private:
  bool take();
  void give();
  void reach_end();

  Fd source_, sink_;
  PollSet::Place source_place_ = -1, sink_place_ = -1;
  JailSide side_;
  ByteQueue queue_;
  bool attached_ = false;
  bool at_line_start_ = true;
  Microseconds next_end_ = kNever;
  std::uint64_t passed_in_ = 0;
};

}  // namespace mayfly
