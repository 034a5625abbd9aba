// BaseLine: what an engine holds at one moment. After every attack it must be again what it was before.
#pragma once

#include <sys/types.h>

#include <string>

#include "jail/cli/private_engine.h"

namespace mayfly::test {

struct BaseLine {
  std::size_t cgroups = 0;       // directories of this engine in every hierarchy
  std::size_t mounts = 0;        // lines of the host's and the builder's mount tables
  std::size_t descriptors = 0;   // of supervisor, builder and witness
  std::size_t processes = 0;     // that descend from them
  std::size_t zombies = 0;       // among those, and among our own children
  std::size_t resident_mib = 0;  // of the three, rounded up to 8 MiB
  long terminals = 0;            // ptys of the whole host, rounded up to 64: other tests may hold some

  static BaseLine of(const PrivateEngine& engine);
  // What has grown, as text; "" when nothing has.
  [[nodiscard]] std::string growth_since(const BaseLine& before) const;
};

}  // namespace mayfly::test
