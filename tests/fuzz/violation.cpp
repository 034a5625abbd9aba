#include "tests/fuzz/violation.h"

#include <cstdio>
#include <cstdlib>

namespace mayfly::fuzz {

void violated(const char* rule, const std::string& detail) {
  (void)std::fprintf(stderr, "fuzz: broken rule: %s%s%s\n", rule, detail.empty() ? "" : ": ", detail.c_str());
  std::abort();
}

}  // namespace mayfly::fuzz
