#include "jail/builder/outside/network_parts.h"

#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "jail/builder/outside/loopback.h"

namespace mayfly {

namespace {

int fill(NetworkPart& part) {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  if (const int error = raise_loopback(socket.get()); error != 0) return error;
  part.network = Fd(::ioctl(socket.get(), SIOCGSKNS));  // close-on-exec by definition (socket(7))
  return part.network ? 0 : errno;
}

}  // namespace

int make_network_part(int home, Nsids& nsids, NetworkPart& made) {
  if (::unshare(CLONE_NEWNET) != 0) return errno;
  int error = fill(made);
  // Failing to come home would put the next jail's plan into a namespace that is meant for one jail alone.
  if (::setns(home, CLONE_NEWNET) != 0) ::_exit(1);
  if (error == 0) made.nsid = nsids.assign(made.network.get());
  return error;
}

}  // namespace mayfly
