// KeyOptions: the options field in front of a key of an authorized_keys file (sshd(8)), comma separated, values in
// double quotes with \" inside. Pure, but for the host's time zone in expiry-time= without Z.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jail/expected.h"

namespace mayfly {

struct KeyOptions {
  std::optional<std::string> command;
  std::vector<std::string> from;
  std::optional<std::int64_t> expires;  // seconds since 1970
};

// How much of the line the field takes: up to the first blank outside of quotes.
std::size_t options_length(std::string_view line);

// Fails with the reason, which names the option.
Expected<KeyOptions> read_key_options(std::string_view field);

}  // namespace mayfly
