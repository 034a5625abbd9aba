// The control of a hostile program: the same, run outside of every jail, must get what it wants; otherwise its refusal
// inside proves nothing. It is harmless: bounded by its arguments, in pid, mount, ipc and uts namespaces of its own (so
// that a kill of everybody reaches nobody), in an empty directory, with a time limit.
#pragma once

#include <string>
#include <vector>

#include "tests/hostile/attack.h"

namespace mayfly::test {

struct OutsideRun {
  int status = -1;  // of waitpid(2)
  Lines lines{""};
  std::string trouble;  // could not be run at all
};

OutsideRun run_control(const std::string& program_path, const std::vector<std::string>& arguments);

}  // namespace mayfly::test
