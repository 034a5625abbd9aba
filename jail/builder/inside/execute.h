// execve(2) with the search of execvp(3) in a constant PATH. Side: inside, the program's process.
#pragma once

#include "jail/builder/inside/texts.h"

namespace mayfly {

// Returns only when it failed: the errno. A name without a slash that is nowhere: ENOENT, or EACCES where one was found
// that may not be executed. A script without an interpreter line: ENOEXEC; no shell is tried.
int execute(const Texts& texts);

}  // namespace mayfly
