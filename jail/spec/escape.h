// One way to show foreign bytes: printable ASCII and valid UTF-8 letters stay, all else becomes \xNN, \n, \t, \\ .
// Used for logs, reason lines and everything that reaches a terminal of ours (promise P70).
#pragma once

#include <string>
#include <string_view>

namespace mayfly {

std::string escape(std::string_view bytes, std::size_t most_bytes = 400);  // longer input is cut and ends in "..."
bool is_utf8(std::string_view bytes);                                      // RFC 3629: no overlong forms, no surrogates
std::size_t utf8_cut(std::string_view bytes, std::size_t at_most);  // largest cut <= at_most on a character boundary

}  // namespace mayfly
