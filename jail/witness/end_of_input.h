// End of a peer's input on a terminal. A pty has no half-close: what a program sees as end of file is the VEOF
// character, and it sees it once. So that input that has ended stays ended, as a pipe's does (a shell that runs `cat`
// must get one and its child another), the relay types it again every kTerminalEndRepeat while the jail runs.
// Programs that read raw get the same character (line editors take it as end of input, others ignore it).
#pragma once

#include <array>
#include <cstddef>

namespace mayfly {

struct EndOfInput {
  std::array<char, 2> bytes{};
  std::size_t count = 0;
};

// In canonical mode VEOF in the middle of a line only hands the line over: then it takes two (termios(3)). The
// character is the one that the jail's terminal has set; 0x04 where it has none and reads raw.
EndOfInput end_of_input(int master, bool at_line_start);

}  // namespace mayfly
