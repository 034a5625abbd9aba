#include "jail/witness/in_stream.h"

#include <unistd.h>

#include <cerrno>

#include "jail/spec/limits.h"
#include "jail/witness/end_of_input.h"

namespace mayfly {

InStream::InStream(Fd source, JailSide side, std::span<char> memory)
    : source_(std::move(source)), side_(side), queue_(memory) {}

void InStream::attach(Fd sink) {
  sink_ = std::move(sink);
  attached_ = true;
  reach_end();
}

void InStream::watch(PollSet& set) {
  const bool wanted = attached_ && (!sink_ || queue_.size() <= kRelayBuffer.count / 2);
  source_place_ = wanted ? set.add(source_.get(), POLLIN) : -1;
  // A master with nothing to write is watched by its reader; an idle pipe, for the program closing it.
  const bool idle_terminal = side_ == JailSide::Terminal && queue_.empty();
  sink_place_ = idle_terminal ? -1 : set.add(sink_.get(), queue_.empty() ? short{0} : POLLOUT);
}

bool InStream::pump(const PollSet& set) {
  const short sink = set.at(sink_place_);
  if ((sink & (POLLERR | POLLHUP | POLLNVAL)) != 0) close_jail_side();
  const bool heard = source_ && set.at(source_place_) != 0 && take();
  if (heard || (sink & POLLOUT) != 0) give();
  reach_end();
  return heard;
}

bool InStream::take() {
  const std::span<char> room = queue_.room(kRelayBuffer.count - queue_.size());
  const ssize_t got = ::read(source_.get(), room.data(), room.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got <= 0) {
    source_.reset();
    return false;
  }
  if (sink_) queue_.kept(static_cast<std::size_t>(got));
  return true;
}

void InStream::give() {
  if (!sink_ || queue_.empty()) return;
  const std::string_view content = queue_.content();
  const ssize_t given = ::write(sink_.get(), content.data(), content.size());
  if (given < 0) {
    if (errno != EAGAIN && errno != EINTR) close_jail_side();
    return;
  }
  if (given == 0) return;
  const char last = content[static_cast<std::size_t>(given) - 1];
  at_line_start_ = last == '\n' || last == '\r';
  passed_in_ += static_cast<std::uint64_t>(given);
  queue_.taken(static_cast<std::size_t>(given));
}

// All input is in the jail and no more will come.
void InStream::reach_end() {
  if (source_ || !sink_ || !queue_.empty()) return;
  if (side_ == JailSide::Pipe) {
    sink_.reset();
  } else if (next_end_ == kNever) {
    next_end_ = Microseconds{0};
  }
}

void InStream::tick(Microseconds now) {
  if (now < next_end_) return;
  const EndOfInput end = end_of_input(sink_.get(), at_line_start_);
  // A terminal whose input is full takes it the next time.
  if (::write(sink_.get(), end.bytes.data(), end.count) > 0) at_line_start_ = true;
  next_end_ = now + kTerminalEndRepeat;
}

void InStream::close_jail_side() {
  sink_.reset();
  queue_.taken(queue_.size());
  next_end_ = kNever;
}

}  // namespace mayfly
