#include "jail/cli/byte_copy.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace mayfly {

ByteCopy::Sink ByteCopy::kind_of(int sink) {
  struct stat found {};
  if (::fstat(sink, &found) != 0) return Sink::Other;
  if (S_ISFIFO(found.st_mode)) return Sink::Pipe;
  return S_ISSOCK(found.st_mode) ? Sink::Socket : Sink::Other;
}

ByteCopy::ByteCopy(int source, int sink) : source_(source), sink_(sink), kind_(kind_of(sink)) {}
ByteCopy::ByteCopy(int source, std::string& sink) : source_(source), text_(&sink), kind_(Sink::Text) {}

void ByteCopy::remember(std::string_view bytes) {
  tail_ += bytes;
  if (tail_.size() > kTail) tail_.erase(0, tail_.size() - kTail);
}

void ByteCopy::source_ready() {
  const ssize_t count = ::read(source_, buffer_.data(), buffer_.size());
  if (count < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (count <= 0) {
    // EIO: a terminal that has hung up, which is its way to say EOF.
    if (count < 0 && errno != EIO) error_ = errno;
    ended_ = true;
    if (state_ == State::Open) state_ = error_ != 0 ? State::Broken : State::SourceEnded;
    return;
  }
  const std::string_view bytes(buffer_.data(), static_cast<std::size_t>(count));
  if (state_ != State::Open) return;  // dropped
  remember(bytes.substr(bytes.size() - std::min(bytes.size(), kTail)));
  if (kind_ == Sink::Text) {
    text_->append(bytes);
    return;
  }
  start_ = 0;
  end_ = bytes.size();
}

long ByteCopy::write_some(std::string_view bytes) const {
  if (kind_ == Sink::Socket) return ::send(sink_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  // pipe(7): POLLOUT means that PIPE_BUF bytes fit, so this much never blocks.
  const std::size_t most = kind_ == Sink::Pipe ? std::min<std::size_t>(bytes.size(), PIPE_BUF) : bytes.size();
  return ::write(sink_, bytes.data(), most);
}

void ByteCopy::sink_ready() {
  const long count = write_some(std::string_view(buffer_.data() + start_, end_ - start_));
  if (count >= 0) {
    start_ += static_cast<std::size_t>(count);
    return;
  }
  if (errno == EINTR || errno == EAGAIN) return;
  error_ = errno;
  start_ = end_ = 0;
  state_ = errno == EPIPE || errno == ECONNRESET ? State::SinkGone : State::Broken;
}

void ByteCopy::divert(std::string& sink) {
  sink.append(buffer_.data() + start_, end_ - start_);
  start_ = end_ = 0;
  text_ = &sink;
  kind_ = Sink::Text;
}

void ByteCopy::sink_gone() {
  start_ = end_ = 0;
  if (state_ == State::Open) state_ = State::SinkGone;
}

}  // namespace mayfly
