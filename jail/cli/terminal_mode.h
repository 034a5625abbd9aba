// RawTerminal: the caller's terminal in raw mode, for as long as this object lives. termios(3), cfmakeraw.
// Restored on destruction; signals that would end us are taken by signalfd in this program, so they pass through the
// destructor too.
#pragma once

#include <termios.h>

#include "jail/expected.h"
#include "jail/spec/request.h"

namespace mayfly {

class RawTerminal {
 public:
  static Expected<RawTerminal> enter(int terminal);
  RawTerminal(RawTerminal&& other) noexcept;
  RawTerminal& operator=(RawTerminal&&) = delete;
  ~RawTerminal();

  void suspend() const;  // as it was, for a while (SIGTSTP)
  void resume() const;

 private:
  RawTerminal(int terminal, const termios& before) : terminal_(terminal), before_(before) {}
  int terminal_;  // not owned; -1: moved from
  termios before_;
};

TerminalSize terminal_size(int terminal);  // 80x24 where it cannot be told

}  // namespace mayfly
