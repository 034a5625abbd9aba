// ByteCopy: bytes of one direction, from a source to a sink, exactly and in order, with at most one buffer in between:
// the source is read only when the buffer is empty, so a slow sink holds the source back. No descriptor is owned.
//
// The sink is a descriptor or, for --json, a string. Descriptors of the caller (0, 1, 2) stay blocking, because their
// flags are shared with other processes: a pipe is written to in pieces that poll(2) has promised to fit.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace mayfly {

class ByteCopy {
 public:
  enum class State : unsigned char {
    Open,
    SourceEnded,  // EOF, and every byte of it was delivered
    SinkGone,     // EPIPE: nobody reads any more; what comes from the source from now on is dropped
    Broken,       // another error; error() says which
  };

  ByteCopy(int source, int sink);
  ByteCopy(int source, std::string& sink);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] bool wants_source() const { return state_ == State::Open && start_ == end_ && !ended_; }
  [[nodiscard]] bool wants_sink() const { return state_ == State::Open && start_ != end_; }
  [[nodiscard]] std::string_view tail() const { return tail_; }  // the last bytes that came from the source

  void source_ready();
  void sink_ready();
  void sink_gone();                // seen by poll(2)
  void divert(std::string& sink);  // what is still to come, the buffer included, goes there

 private:
  enum class Sink : unsigned char { Text, Pipe, Socket, Other };
  static Sink kind_of(int sink);
  void remember(std::string_view bytes);
  long write_some(std::string_view bytes) const;

  static constexpr std::size_t kTail = 2048;  // more than the longest reason line
  int source_, sink_ = -1;
  std::string* text_ = nullptr;
  Sink kind_;
  State state_ = State::Open;
  int error_ = 0;
  bool ended_ = false;
  std::size_t start_ = 0, end_ = 0;
  std::string tail_;
  std::array<char, 65536> buffer_{};
};

}  // namespace mayfly
