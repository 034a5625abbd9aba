// Foreign text beside SSH itself: what the supervisor reads for the SSH front end. One input is one text for one
// parser.
//
//   input = kind text      kind (modulo 5): 0 authorized_keys, 1 invites.json, 2 a message from a front end,
//                          3 a message from the supervisor, 4 a from= list, a newline, a source
//
// Held: what was taken is whole, and means the same when it is written and read again.
#pragma once

#include <cstdint>
#include <span>

namespace mayfly::fuzz {

// True: the parser took it, all of it.
bool play_text(std::span<const std::uint8_t> input);

}  // namespace mayfly::fuzz
