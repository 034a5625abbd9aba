// The bind table (wire/bind_table.h): which host trees jails get, and what is hidden in them. Row 0 is for every
// profile that names no folders; one that does has a row of its own, with its `readonly` at /data and its `seed` at
// /seed, from where the builder copies it into the home directory.
#pragma once

#include <cstdint>

#include "jail/cli/paths.h"
#include "jail/cli/programs.h"
#include "jail/expected.h"
#include "jail/os/fd.h"
#include "jail/spec/profile.h"
#include "jail/wire/bind_table.h"

namespace mayfly {

enum class UsrLocal : bool { Hidden, Shown };
enum class MadeAhead : bool { No, Yes };

struct BindChoices {
  Privilege privilege = Privilege::Rootless;
  std::uint32_t uid_base = 0;
  MadeAhead made_ahead = MadeAhead::Yes;
  UsrLocal usr_local = UsrLocal::Hidden;
};

// Pure. Fails when a path is too long for the table.
Expected<BindTable> make_bind_table(const BindChoices& choices, const Programs& programs, const Catalogue& catalogue);
Expected<Fd> seal_bind_table(const BindTable& table);

}  // namespace mayfly
