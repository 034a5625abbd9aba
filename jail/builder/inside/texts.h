// argv and environment of the program, as execve(2) wants them, from the plan and the payload. Side: inside; made by
// pid 1 before its vfork, in memory that ends with the jail. Nothing of it is read again by pid 1.
#pragma once

#include <array>

#include "jail/builder/inside/inside.h"

namespace mayfly {

struct Texts {
  std::array<char*, Plan::kMaxArgv + 1> argv{};
  std::array<char*, Plan::kMaxEnvironment + 2> environment{};
  std::uint32_t environment_count = 0;
  std::uint64_t environment_hash = kFnvOffset;
};

void gather_texts(Inside& in, Texts& texts);

}  // namespace mayfly
