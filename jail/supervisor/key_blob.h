// KeyBlob: the two words of a public key, its type and base64, and what is inside (RFC 4253 6.6, RFC 5656 3.1, RFC
// 8709, PROTOCOL.u2f). Pure. Lengths and forms are judged; whether a point lies on its curve is libssh's to say, which
// cannot take a key that does not.
#pragma once

#include <string>
#include <string_view>

#include "jail/expected.h"

namespace mayfly {

// Whether the word is meant as the type of a key, accepted or not; no option of sshd(8) begins like one.
bool is_key_type(std::string_view word);

// The decoded key. Fails with the reason when the type is not accepted or the key not well formed.
Expected<std::string> read_key_blob(std::string_view type, std::string_view base64_text);

}  // namespace mayfly
