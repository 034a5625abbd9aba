#include "jail/cli/terminal_mode.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace mayfly {

Expected<RawTerminal> RawTerminal::enter(int terminal) {
  termios before{};
  if (::tcgetattr(terminal, &before) != 0) return failure("read terminal settings", errno);
  RawTerminal raw(terminal, before);
  termios now = before;
  ::cfmakeraw(&now);
  if (::tcsetattr(terminal, TCSADRAIN, &now) != 0) return failure("set terminal to raw mode", errno);
  return raw;
}

RawTerminal::RawTerminal(RawTerminal&& other) noexcept
    : terminal_(std::exchange(other.terminal_, -1)), before_(other.before_) {}

RawTerminal::~RawTerminal() {
  if (terminal_ >= 0) suspend();
}

void RawTerminal::suspend() const { ::tcsetattr(terminal_, TCSADRAIN, &before_); }

void RawTerminal::resume() const {
  termios now = before_;
  ::cfmakeraw(&now);
  ::tcsetattr(terminal_, TCSADRAIN, &now);
}

TerminalSize terminal_size(int terminal) {
  winsize size{};
  if (::ioctl(terminal, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {std::min<std::uint16_t>(size.ws_col, 1000), std::min<std::uint16_t>(size.ws_row, 1000)};
}

}  // namespace mayfly
