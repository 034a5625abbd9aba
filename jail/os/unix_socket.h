// Unix sockets: SEQPACKET pairs and listeners, messages with descriptors (SCM_RIGHTS) and credentials.
// unix(7). Nothing in here knows what a message means.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jail/expected.h"
#include "jail/os/fd.h"

namespace mayfly {

enum class Blocking : bool { No, Yes };

struct SocketPair {
  Fd ours, theirs;
};
Expected<SocketPair> make_seqpacket_pair(Blocking blocking);

// Binds (removing a stale socket file first), listens, sets the mode. The caller holds the instance lock, so that
// the file removed is nobody's.
Expected<Fd> listen_at(const std::string& path, unsigned mode);
Expected<Fd> connect_to(const std::string& path);       // SEQPACKET, blocking, CLOEXEC
Expected<Fd> connect_at_once(const std::string& path);  // EAGAIN where it would have to wait; blocking from then on
Expected<Fd> accept_from(const Fd& listener);           // non-blocking, CLOEXEC; EAGAIN is a Failure with that errno

struct PeerCredentials {
  pid_t pid = 0;  // at the time of connect; of the process that connected, not of the one that now writes
  uid_t uid = 0;
  gid_t gid = 0;
};
Expected<PeerCredentials> peer_credentials(const Fd& socket);  // SO_PEERCRED

// One message. EAGAIN and EPIPE come back as Failure::error. MSG_NOSIGNAL always.
Expected<void> send_message(int socket, std::span<const std::byte> bytes, std::span<const int> fds);

struct Received {
  std::vector<std::byte> bytes;  // empty and `closed`: the peer has closed
  std::vector<Fd> fds;
  pid_t sender = 0;  // only with SO_PASSCRED: the sender's pid in our pid namespace
  bool closed = false;
};
// Takes at most `most_bytes` and `most_fds`; a message that is longer, or whose control data was cut (MSG_TRUNC,
// MSG_CTRUNC), is a Failure EMSGSIZE, and every descriptor that came with it is closed.
Expected<Received> receive_message(int socket, std::size_t most_bytes, std::size_t most_fds);

Expected<void> set_pass_credentials(int socket);  // SO_PASSCRED
Expected<void> set_nonblocking(int fd, Blocking blocking);

}  // namespace mayfly
