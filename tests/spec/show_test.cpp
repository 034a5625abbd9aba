#include "jail/spec/show.h"

#include <catch2/catch.hpp>

namespace mayfly {

using namespace literals;

TEST_CASE("numbers are shown in the unit that leaves nothing over") {
  CHECK(show(60_min) == "60 min");
  CHECK(show(90_s) == "90 s");
  CHECK(show(1500_ms) == "1500 ms");
  CHECK(show(1_gib) == "1 GiB");
  CHECK(show(Bytes{1536}) == "1536 bytes");
  CHECK(show(64_kib) == "64 KiB");
}

}  // namespace mayfly
