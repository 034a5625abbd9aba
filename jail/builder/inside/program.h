// The program's process: from the vfork of pid 1 to execve. Until execve it shares pid 1's memory, which waits.
// Side: inside.
#pragma once

#include "jail/builder/inside/inside.h"
#include "jail/builder/inside/streams.h"
#include "jail/builder/inside/texts.h"

namespace mayfly {

struct ProgramOrder {
  Inside& in;
  Streams streams;
  Texts texts;
  bool proc_mounted = false;
};

// Returns once the program runs, or exits when it never will.
pid_t start_program(ProgramOrder& order);

}  // namespace mayfly
