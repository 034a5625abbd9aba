// mayfly-witness: the template of all relays. Started by the keeper with the descriptors of wire/startup.h.
#include <fcntl.h>

#include "jail/witness/witness_template.h"

namespace {

// A descriptor that the keeper may leave out must be told apart from a number that is merely free now.
int if_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0 ? fd : -1; }

}  // namespace

int main() {
  mayfly::ignore_signals();
  mayfly::TemplateFds fds;
  fds.uid_lock = if_open(fds.uid_lock);
  mayfly::WitnessTemplate{fds}.run();
  return 0;
}
