// Sizes and times as people write them on a command line.
//   size      256M 1.5G 64k 4096 1GiB      K, M, G, T are powers of 1024; a bare number is bytes
//   duration  10s 1.5 500ms 2m 1h 7d       a bare number is seconds
// Fails with the text and the forms that are understood; never guesses.
#pragma once

#include <cstdint>
#include <string_view>

#include "jail/expected.h"

namespace mayfly {

Expected<std::uint64_t> parse_size(std::string_view text);         // bytes
Expected<std::uint64_t> parse_duration_ms(std::string_view text);  // milliseconds
Expected<double> parse_cpus(std::string_view text);                // processors, "0.5"
Expected<std::uint64_t> parse_count(std::string_view text);

}  // namespace mayfly
