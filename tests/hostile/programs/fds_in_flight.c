/* A05: descriptors parked in Unix sockets that nobody reads. */
#include <sys/socket.h>

#include "probe.h"

static int send_fd(int socket, int fd) {
  char byte = 0, control[CMSG_SPACE(sizeof fd)] = {0};
  struct iovec part = {&byte, 1};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(header), &fd, sizeof fd);
  return (int)sendmsg(socket, &message, MSG_DONTWAIT);
}

int probe_fds_in_flight(int argc, char** argv) {
  const long most = count_from(argc, argv, 100000);
  long parked = 0;
  int pair[2], refused = 0;
  while (parked < most && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0) {
    while (parked < most && send_fd(pair[0], pair[1]) > 0) ++parked;
    refused = errno;
    close(pair[0]);
    if (refused == ETOOMANYREFS) break;
  }
  if (parked < most && refused != ETOOMANYREFS) refused = errno;
  errno = refused;
  say("park", parked < most ? -1 : 0);
  say_number("parked", parked);
  return 0;
}
