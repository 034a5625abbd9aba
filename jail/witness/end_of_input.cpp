#include "jail/witness/end_of_input.h"

#include <termios.h>
#include <unistd.h>  // _POSIX_VDISABLE

namespace mayfly {

EndOfInput end_of_input(int master, bool at_line_start) {
  constexpr char kControlD = 0x04;
  termios mode{};
  // On the master this answers for the slave side (tty_ioctl: both share one termios).
  if (::tcgetattr(master, &mode) != 0) return {};
  const bool canonical = (mode.c_lflag & ICANON) != 0;
  const cc_t set = mode.c_cc[VEOF];
  if (set == _POSIX_VDISABLE && canonical) return {};  // this terminal has no end of file at all
  const char character = set == _POSIX_VDISABLE ? kControlD : static_cast<char>(set);
  return {{character, character}, canonical && !at_line_start ? 2u : 1u};
}

}  // namespace mayfly
