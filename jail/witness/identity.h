// A forked relay's first steps: it becomes its own ids and keeps only what is its own. After these nothing in it can
// be raised again. Order matters: ids need the template's privileges, and losing them is what the ids are for.
#pragma once

#include <span>

#include "jail/wire/relay.h"

namespace mayfly {

// As root: no groups, all group ids and the effective and saved user id are the relay's, and the real user id is that
// of the jail's init, so that the relay may signal pid 1 (kill(2): the sender's real or effective id must equal the
// target's real or saved one). Leaving uid 0 drops every capability (capabilities(7)). Rootless: ids stay.
// In both cases the relay cannot start processes any more. 0 or errno; with an errno the process must end.
int become_relay(const RelayOrder& order);

// Closes every descriptor but those in `own` (any order, -1 allowed; the span is sorted). close_range(2).
void keep_only(std::span<int> own);

}  // namespace mayfly
