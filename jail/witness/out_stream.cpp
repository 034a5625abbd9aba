#include "jail/witness/out_stream.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "jail/spec/limits.h"

namespace mayfly {
namespace {

constexpr std::size_t kBuffer = kRelayBuffer.count;
// Room that no program can fill: for the reason line and its line ends.
constexpr std::size_t kLineRoom = 2048;

}  // namespace

std::uint64_t OutputBudget::grant(std::uint64_t written) {
  const std::uint64_t left = used_ < ceiling_ ? ceiling_ - used_ : 0;
  used_ += written;
  return std::min(left, written);
}

OutStream::OutStream(Fd sink, std::uint64_t kept, std::span<char> memory, std::span<char> tail)
    : sink_(std::move(sink)),
      queue_(memory),
      tail_(tail),
      capacity_(memory.size()),
      left_(kept == 0 ? std::numeric_limits<std::uint64_t>::max() : kept) {}

// Half empty before the next read: a slow peer must not turn bulk output into a stream of tiny reads.
bool OutStream::wants_more() const { return !passing() || queue_.size() <= kBuffer / 2; }

void OutStream::watch(PollSet& set) {
  source_place_ = !hung_up_ && wants_more() ? set.add(source_.get(), POLLIN) : -1;
  sink_place_ = set.add(sink_.get(), sink_is_full_ && !queue_.empty() ? POLLOUT : short{0});
}

std::size_t OutStream::pump(const PollSet& set, OutputBudget& budget) {
  const short sink = set.at(sink_place_);
  if ((sink & (POLLERR | POLLHUP | POLLNVAL)) != 0) {
    lose_sink();
    return 0;
  }
  if ((sink & POLLOUT) != 0) sink_is_full_ = false;
  if (source_ && set.at(source_place_) != 0) {
    const std::size_t most = passing() ? kBuffer - queue_.size() : kBuffer;
    if (read_once(most, budget) == Read::End && !hung_up_) source_.reset();
  }
  return sink_is_full_ ? 0 : give();
}

OutStream::Read OutStream::read_once(std::size_t most, OutputBudget& budget) {
  const std::span<char> room = queue_.room(most);
  const ssize_t got = ::read(source_.get(), room.data(), room.size());
  if (got > 0) {
    account(room.first(static_cast<std::size_t>(got)), budget);
    return Read::Some;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Read::Nothing;
  hung_up_ = got < 0 && errno == EIO;
  return Read::End;
}

void OutStream::account(std::span<const char> bytes, OutputBudget& budget) {
  digest_.add(bytes);
  bytes_ += bytes.size();
  const std::uint64_t granted = budget.grant(bytes.size());
  const std::size_t passed = truncated_ ? 0 : static_cast<std::size_t>(std::min(granted, left_));
  if (passed > 0) {
    left_ -= passed;
    last_ = bytes[passed - 1];
    queue_.kept(passed);
  }
  if (passed == bytes.size()) return;
  truncated_ = true;
  tail_.add(bytes.subspan(passed));
}

std::size_t OutStream::give() {
  if (!sink_ || queue_.empty()) return 0;
  const std::string_view content = queue_.content();
  const ssize_t given = ::write(sink_.get(), content.data(), content.size());
  if (given < 0) {
    if (errno == EAGAIN || errno == EINTR) {
      sink_is_full_ = true;
    } else {
      lose_sink();
    }
    return 0;
  }
  queue_.taken(static_cast<std::size_t>(given));
  sink_is_full_ = !queue_.empty();
  return static_cast<std::size_t>(given);
}

void OutStream::lose_sink() {
  sink_.reset();
  source_.reset();
  queue_.taken(queue_.size());
}

Reached OutStream::drain(OutputBudget& budget) {
  // A dead jail's pipe is empty after two reads, a pty after a few more; a live writer must not keep us here.
  constexpr int kReads = 64;
  for (int i = 0; source_ && i < kReads; ++i) {
    const std::size_t most = std::min(kBuffer, capacity_ - kLineRoom - queue_.size());
    if (most == 0) return Reached::Full;
    const Read read = read_once(most, budget);
    if (read == Read::Nothing) return Reached::Later;
    if (read == Read::End) source_.reset();
  }
  return source_ ? Reached::Later : Reached::End;
}

void OutStream::totals(RelayTotals& into) const {
  into.bytes = bytes_;
  into.sha256 = digest_.value();
  into.truncated = truncated_ ? 1 : 0;
  into.tail_length = static_cast<std::uint32_t>(tail_.copy(into.tail));
}

void OutStream::append_line(std::string_view text, std::string_view line_end) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  if (!sink_ || text.empty()) return;
  // A reader that looks for the line looks for it at the start of a line.
  if (last_ != '\n' || line_end.size() > 1) queue_.append(line_end);
  queue_.append(text);
  queue_.append(line_end);
}

}  // namespace mayfly
