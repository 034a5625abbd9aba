// One line in the log for each jail that was asked for, whoever asked: who, what, and how it came out.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "jail/os/log.h"
#include "jail/spec/spec.h"

namespace mayfly {

// `code`: "jail.ended" or "jail.refused"; `how`: "exited:0", "time-limit", "queue-full".
inline void log_jail(const Spec& spec, std::string_view code, std::string how, Microseconds wall) {
  log_line(Severity::Info, code,
           {{"jail", spec.id.text()},
            {"origin", std::string(name(spec.origin))},
            {"profile", spec.profile},
            {"principal", spec.principal},
            {"peer", spec.peer},
            {"ending", std::move(how)},
            {"wallMs", std::to_string(wall.count() / 1000)}});
}

}  // namespace mayfly
