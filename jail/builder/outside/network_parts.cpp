#include "jail/builder/outside/network_parts.h"

#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "jail/builder/outside/loopback.h"
#include "jail/builder/outside/write_text.h"

namespace mayfly {

namespace {

// The network namespace that a socket of ours is made in. Close-on-exec by definition (socket(7)).
Fd network_of(const Fd& socket) { return Fd(::ioctl(socket.get(), SIOCGSKNS)); }

int open_network(NetworkPart& part) {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  part.network = network_of(socket);
  return part.network ? 0 : errno;
}

bool is_of(const Fd& socket, const NetworkPart& part) {
  const Fd here = network_of(socket);
  struct stat ours {
  }, its{};
  return ::fstat(here.get(), &ours) == 0 && ::fstat(part.network.get(), &its) == 0 && ours.st_dev == its.st_dev &&
         ours.st_ino == its.st_ino;
}

// /proc/sys/net is that of whoever opens it (proc(5)). Where it is read-only, as in some containers, things stay as
// they are: docs/threat-model.md says what that means.
void keep_small(int proc) {
  struct Setting {
    const char* path;
    std::string_view value;
  };
  constexpr std::array kSettings = {
      Setting{"sys/net/core/somaxconn", "16"},
      Setting{"sys/net/ipv4/tcp_rmem", "4096 16384 262144"},
      Setting{"sys/net/ipv4/tcp_wmem", "4096 16384 262144"},
  };
  for (const Setting& setting : kSettings) (void)write_text(proc, setting.path, setting.value);
}

}  // namespace

int furnish_network(const NetworkPart& part, int proc) {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  if (!is_of(socket, part)) return EXDEV;
  if (const int error = raise_loopback(socket.get()); error != 0) return error;
  keep_small(proc);
  return 0;
}

int make_network_part(int home, int proc, Nsids& nsids, Furnish furnish, NetworkPart& made) {
  if (::unshare(CLONE_NEWNET) != 0) return errno;
  int error = open_network(made);
  if (error == 0 && furnish == Furnish::Now) error = furnish_network(made, proc);
  made.is_furnished = furnish == Furnish::Now;
  // Failing to come home would put the next jail's plan into a namespace that is meant for one jail alone.
  if (::setns(home, CLONE_NEWNET) != 0) ::_exit(1);
  if (error == 0) made.nsid = nsids.assign(made.network.get());
  return error;
}

}  // namespace mayfly
