// One scenario against the real session: the library mayfly_sshd_session, as mayfly-sshd-session links it, in this
// process. What it may not do is held by the judges (server_judge.h, played_supervisor.h, stage.h); here: no descriptor
// is left behind by it, but for the connection's own, which the session leaves to the end of its process.
#pragma once

#include <cstdint>
#include <span>

#include "tests/fuzz/reached.h"

namespace mayfly::fuzz {

Reached play_session(std::span<const std::uint8_t> input);

}  // namespace mayfly::fuzz
