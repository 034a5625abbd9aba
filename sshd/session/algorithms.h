// Which algorithms the server offers (design section 7). Everything is named; no default of libssh is trusted.
#pragma once

#include <libssh/server.h>

#include "jail/expected.h"

namespace mayfly {

// Sets the lists, the smallest RSA size and the banner; keeps libssh from reading any configuration file.
Expected<void> configure(ssh_bind bind);

}  // namespace mayfly
