// What libcrypto does only once in a process, done before anybody waits for it: the look-ups of algorithms, the random
// generator's start, and the pages of the code itself. A third of a key exchange's time is in there.
// No key and no number of it is used for anything; what fails here fails again, and is told, where it is needed.
#pragma once

namespace mayfly {

void warm_up_crypto();

}  // namespace mayfly
