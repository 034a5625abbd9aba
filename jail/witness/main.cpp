// mayfly-witness: the template of all relays. Started by the keeper with the descriptors of wire/startup.h.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "jail/witness/confinement.h"
#include "jail/witness/witness_template.h"

namespace {

// A descriptor that the keeper may leave out must be told apart from a number that is merely free now.
int if_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0 ? fd : -1; }

int say(const mayfly::Failure& failure) {
  const std::string line = "mayfly-witness: witness.not_confined: " + failure.text() + "\n";
  const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  static_cast<void>(written);
  return 1;
}

}  // namespace

int main() {
  if (const auto locked = mayfly::lock_down(mayfly::confinement::witness()); !locked) return say(locked.error());
  if (const int error = mayfly::bound_resources(); error != 0) {
    return say({"bound own resources", error, "", "no relay starts"});
  }
  mayfly::ignore_signals();
  mayfly::TemplateFds fds;
  fds.uid_lock = if_open(fds.uid_lock);
  mayfly::WitnessTemplate{fds}.run();
  ::_exit(0);  // as its relays do: nothing is to be flushed, and what runs at exit may want calls that are gone
}
