// What mayfly itself says to the person at the other end. Pure: values in, one line of text out, newline included. The
// two warnings come in the middle of whatever a program shows, so they begin with a newline of their own.
// Everything that a peer or a jail can name is escaped; limits are those that are applied.
#pragma once

#include <string>

#include "jail/wire/lease.h"

namespace mayfly {

enum class LineEnd : unsigned char { Plain, Terminal };  // a terminal in raw mode needs CR LF

std::string greeting(const Running& running, LineEnd end);    // a shell on a terminal has started
std::string queue_notice(const Queued& queued, LineEnd end);  // a run waits
std::string refusal(const Refused& refused, LineEnd end);     // it will not start
std::string last_word(const Result& result, LineEnd end);     // the reason line, where no relay could write it
std::string engine_gone(LineEnd end);                         // the supervisor does not answer any more

std::string wall_warning(Milliseconds left, LineEnd end);
std::string idle_warning(Milliseconds silent, Milliseconds left, LineEnd end);

}  // namespace mayfly
