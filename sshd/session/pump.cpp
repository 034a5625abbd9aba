#include "sshd/session/pump.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace mayfly {

namespace {
constexpr std::size_t kChunk = 64 * 1024;  // what a pipe holds
constexpr int kChunksPerTurn = 8;          // then the other channels have a turn
}  // namespace

bool Outlet::wants_source(const ChannelPort& port, const Transport& transport) const {
  return source_ && held_.empty() && !transport.clogged() && port.window() > 0;
}

// True when nothing is held any more.
bool Outlet::hand_over(ChannelPort& port) {
  while (!held_.empty()) {
    const std::size_t most = std::min<std::size_t>(held_.size(), port.window());
    const std::size_t taken = most == 0 ? 0 : port.write(stream_, std::string_view(held_).substr(0, most));
    if (taken == 0) return false;
    delivered_ += taken;
    held_.erase(0, taken);
  }
  return true;
}

void Outlet::pump(ChannelPort& port, const Transport& transport) {
  if (!hand_over(port)) return;
  for (int i = 0; i < kChunksPerTurn && wants_source(port, transport); ++i)
    if (!read_and_pass(port)) return;
}

// False: nothing more is there now.
bool Outlet::read_and_pass(ChannelPort& port) {
  std::array<char, kChunk> chunk;
  const std::size_t most = std::min<std::size_t>(chunk.size(), port.window());
  const ssize_t count = ::read(source_.get(), chunk.data(), most);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count <= 0) {
    drop_source();
    return false;
  }
  const std::string_view bytes(chunk.data(), static_cast<std::size_t>(count));
  from_jail_ += bytes.size();
  const std::size_t taken = port.write(stream_, bytes);
  delivered_ += taken;
  held_.assign(bytes.substr(taken));
  return bytes.size() == most;
}

void Outlet::drop_all() {
  drop_source();
  held_.clear();
  held_.shrink_to_fit();
}

std::size_t Inlet::pass(std::string_view bytes) {
  std::size_t passed = 0;
  while (passed < bytes.size()) {
    const ssize_t count = ::write(sink_.get(), bytes.data() + passed, bytes.size() - passed);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count < 0) {
      sink_.reset();  // EPIPE: the program has closed its stdin or ended
      return bytes.size();
    }
    passed += static_cast<std::size_t>(count);
    delivered_ += static_cast<std::uint64_t>(count);
  }
  return passed;
}

std::size_t Inlet::take(std::string_view bytes) {
  if (!sink_) return bytes.size();
  return held_.empty() ? pass(bytes) : 0;
}

bool Inlet::wants_sink(const ChannelPort& port) const { return sink_ && (!held_.empty() || port.unread() > 0); }

// True when nothing is held any more.
bool Inlet::pass_held() {
  if (sink_) passed_ += pass(std::string_view(held_).substr(passed_));
  if (sink_ && passed_ < held_.size()) return false;
  held_ = std::string();
  passed_ = 0;
  return true;
}

void Inlet::pump(ChannelPort& port) {
  while (pass_held() && port.unread() > 0) held_ = port.take_unread();
  // The end of input counts only once everything before it is through.
  if (held_.empty() && port.unread() == 0 && port.peer_ended_input()) sink_.reset();
}

}  // namespace mayfly
