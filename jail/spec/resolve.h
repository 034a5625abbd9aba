// resolve(): the arrow from Request to Spec. Pure: no clock, no system call, no randomness (the id is handed in).
// Fails with `subject` = the field as the peer knows it ("limits.wallMs", "files", "profile") and `why` = the
// allowed range. Nothing is ever clamped or defaulted behind the peer's back.
#pragma once

#include <string_view>

#include "jail/expected.h"
#include "jail/spec/policy.h"
#include "jail/spec/request.h"
#include "jail/spec/spec.h"

namespace mayfly {

// `command_text`: the first bytes of the Command, Code or argv for people (Spec::command); may be empty.
Expected<Spec> resolve(const Request& request, const Policy& policy, JailId id, std::string_view command_text);

// Judged alone, because front ends use them before anything is sent.
Expected<void> judge_file_name(std::string_view name);  // relative, <= 4 levels, [A-Za-z0-9._-], no leading dot
bool is_terminfo_name(std::string_view term);

}  // namespace mayfly
