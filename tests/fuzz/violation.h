// A rule that the fuzzed code has broken: says which and aborts, which libFuzzer takes for a finding like any crash.
#pragma once

#include <string>

namespace mayfly::fuzz {

[[noreturn]] void violated(const char* rule, const std::string& detail = {});

}  // namespace mayfly::fuzz
