// Times and sizes as people read them, exact: a number that is no whole minute is shown in seconds, and so on. Pure.
#pragma once

#include <string>

#include "jail/spec/units.h"

namespace mayfly {

std::string show(Milliseconds duration);  // "60 min", "10 s", "250 ms"
std::string show(Bytes bytes);            // "256 MiB", "64 KiB", "100 bytes"

}  // namespace mayfly
