#include "jail/builder/landlock_rights.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace mayfly::landlock {

int allow(int ruleset, std::uint32_t abi, int parent, std::uint64_t rights) {
  const landlock_path_beneath_attr beneath{rights & handled_rights(abi), parent};
  return static_cast<int>(::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0));
}

}  // namespace mayfly::landlock
