// The bind table (wire/bind_table.h): which host trees jails get, and what is hidden in them. Row 0 is for the
// profiles run and python and every language below /usr.
#pragma once

#include <cstdint>

#include "jail/cli/paths.h"
#include "jail/cli/programs.h"
#include "jail/expected.h"
#include "jail/os/fd.h"
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

// Pure. Fails when a path of ours is too long for the table.
Expected<BindTable> make_bind_table(const BindChoices& choices, const Programs& programs);
Expected<Fd> seal_bind_table(const BindTable& table);

}  // namespace mayfly
