// How a test executable says that it cannot run here: the exit status that ctest knows as "skipped", and one line with
// the reason. Catch2 2 cannot skip a single test, so a whole executable does.
// The reason must begin with "this host" or "this kernel" where nothing that one could install or become would help:
// etc/test takes any other reason for a test that should have run.
#pragma once

#include <cstdio>

namespace mayfly::test {

inline constexpr int kSkipped = 77;

inline int skip(const char* reason) {
  std::printf("mayfly-skip: %s\n", reason);
  return kSkipped;
}

}  // namespace mayfly::test
