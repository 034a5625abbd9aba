#include "jail/witness/peer_fd.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace mayfly {
namespace {

const char* make_nonblocking(const Fd& fd, Direction direction) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0) return "not open";
  const int mode = flags & O_ACCMODE;
  const int needed = direction == Direction::Read ? O_RDONLY : direction == Direction::Write ? O_WRONLY : O_RDWR;
  if ((flags & O_PATH) != 0 || (mode != O_RDWR && mode != needed)) return "open in the wrong direction";
  if ((flags & O_NONBLOCK) != 0) return nullptr;
  return ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) == 0 ? nullptr : "cannot be made non-blocking";
}

mode_t kind_of(const Fd& fd) {
  struct stat status {};
  return ::fstat(fd.get(), &status) == 0 ? status.st_mode & S_IFMT : 0;
}

int socket_option(const Fd& fd, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(fd.get(), SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

}  // namespace

const char* prepare_peer(const Fd& fd, Direction direction) {
  const mode_t kind = kind_of(fd);
  if (kind == S_IFSOCK) {
    if (socket_option(fd, SO_DOMAIN) != AF_UNIX || socket_option(fd, SO_TYPE) != SOCK_STREAM) {
      return "a socket that is not a Unix stream";
    }
  } else if (kind != S_IFIFO) {
    return "neither a pipe nor a socket";
  }
  return make_nonblocking(fd, direction);
}

const char* prepare_jail_pipe(const Fd& fd, Direction direction) {
  return kind_of(fd) == S_IFIFO ? make_nonblocking(fd, direction) : "not a pipe";
}

const char* prepare_master(const Fd& fd) {
  unsigned number = 0;
  // TIOCGPTN answers only on the master side (ioctl_tty(2)).
  if (kind_of(fd) != S_IFCHR || ::ioctl(fd.get(), TIOCGPTN, &number) != 0) return "not the master of a pty";
  return make_nonblocking(fd, Direction::Both);
}

}  // namespace mayfly
