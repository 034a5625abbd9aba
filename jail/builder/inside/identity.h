// Who the processes of a jail are. Side: inside.
// pid 1:   uid 999, saved uid 1000: without a capability it can still take the program's id for a moment to signal it.
// program: uid 1000 throughout. Rootless both are 1000, because two inside ids cannot share one outside id.
#pragma once

#include "jail/builder/inside/inside.h"

namespace mayfly {

// What is held now is not touched by it (capabilities(7)), so it fills the time until the id maps are written.
void drop_bounding_set(const Inside& in);
void wait_for_ids(Inside& in);
void become_init(Inside& in);       // ids and name
void own_files_as_run(Inside& in);  // from here on, what is created belongs to the program's user
void own_files_as_init(Inside& in);
void drop_privileges(Inside& in);  // pid 1: capabilities, no_new_privs; inherited by the program
void become_run(Inside& in);       // the program's process

}  // namespace mayfly
