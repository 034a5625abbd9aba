/* A48, A53, A69: socket families, abstract sockets of the host, and every way out. */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "probe.h"

int probe_socket_families(int argc, char** argv) {
  (void)argc;
  (void)argv;
  char what[32];
  for (int family = 0; family < 46; ++family) {
    const int made = socket(family, SOCK_DGRAM, 0);
    const int raw = made < 0 && errno != EAFNOSUPPORT ? socket(family, SOCK_RAW, 0) : made;
    snprintf(what, sizeof what, "family.%d", family);
    say(what, raw);
    if (raw >= 0) close(raw);
  }
  say("sctp", socket(AF_INET, SOCK_STREAM, 132));
  say("raw", socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
  say("wide", syscall(SYS_socket, 0xffffffff00000010ul, SOCK_RAW, 0)); /* netlink, with an upper half */
  return 0;
}

/* Arguments: name of an abstract socket of the host, and a TCP port on its loopback. */
int probe_host_sockets(int argc, char** argv) {
  const char* const abstract = argc > 1 ? argv[1] : "mayfly-no-such";
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "%s", abstract);
  const int local = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  say("abstract", connect(local, (struct sockaddr*)&name,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(abstract))));
  struct sockaddr_in host = {.sin_family = AF_INET, .sin_port = htons((uint16_t)(argc > 2 ? atoi(argv[2]) : 8802))};
  host.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  say("loopback", connect(tcp, (struct sockaddr*)&host, sizeof host));
  static const char* const paths[] = {"/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket",
                                      "/run/mayfly/lease.sock", "/run/mayfly/monitor.sock"};
  struct sockaddr_un place = {.sun_family = AF_UNIX};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; ++i) {
    const int unix_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(place.sun_path, sizeof place.sun_path, "%s", paths[i]);
    say(paths[i], connect(unix_socket, (struct sockaddr*)&place, sizeof place));
    close(unix_socket);
  }
  return 0;
}

static int listen_on_loopback(struct sockaddr_in* where, int backlog) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  socklen_t length = sizeof *where;
  *where = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (struct sockaddr*)where, sizeof *where) != 0 || listen(listener, backlog) != 0 ||
      getsockname(listener, (struct sockaddr*)where, &length) != 0)
    return -1;
  return listener;
}

/* A05: bytes that are under way on lo, read by nobody. Argument: how many connections. */
int probe_socket_memory(int argc, char** argv) {
  static char piece[65536];
  const long wanted = count_from(argc, argv, 100);
  struct sockaddr_in where;
  const int listener = listen_on_loopback(&where, 1000);
  long bytes = 0, connections = 0;
  for (; connections < wanted; ++connections) {
    const int sender = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (sender < 0 || connect(sender, (struct sockaddr*)&where, sizeof where) != 0) break;
    if (accept(listener, NULL, NULL) < 0) break;
    for (ssize_t sent; (sent = send(sender, piece, sizeof piece, MSG_DONTWAIT)) > 0;) bytes += sent;
  }
  say_number("connections", connections);
  say_number("kilobytes", bytes / 1024);
  return 0;
}

/* A05: connections that nobody accepts, of one listener, closed by who made them. Argument: how many. */
int probe_accept_queues(int argc, char** argv) {
  const long wanted = count_from(argc, argv, 500);
  struct sockaddr_in where;
  if (listen_on_loopback(&where, 5000) < 0) return 1;
  long made = 0;
  for (; made < wanted; ++made) {
    const int sender = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (sender < 0) break;
    const int refused = connect(sender, (struct sockaddr*)&where, sizeof where) != 0 && errno != EINPROGRESS;
    int error = 0;
    socklen_t length = sizeof error;
    const int connected = getpeername(sender, (struct sockaddr*)&(struct sockaddr_in){0}, &(socklen_t){16}) == 0;
    getsockopt(sender, SOL_SOCKET, SO_ERROR, &error, &length);
    close(sender);
    if (refused || !connected || error != 0) break;
  }
  say_number("queued", made);
  return 0;
}

int probe_ways_out(int argc, char** argv) {
  (void)argc;
  (void)argv;
  static const char* const hosts[] = {"192.0.2.1", "169.254.169.254", "10.0.0.1", "255.255.255.255"};
  for (size_t i = 0; i < sizeof hosts / sizeof *hosts; ++i) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(53)};
    inet_pton(AF_INET, hosts[i], &address.sin_addr);
    const int udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    say(hosts[i], connect(udp, (struct sockaddr*)&address, sizeof address));
    close(udp);
  }
  struct if_nameindex* interfaces = if_nameindex();
  const int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct ifconf all = {.ifc_len = 0};
  say_text("netlink", interfaces ? "ok" : "refused");
  long count = 0;
  for (int index = 1; index < 64; ++index) {
    struct ifreq request = {.ifr_ifindex = index};
    if (ioctl(control, SIOCGIFNAME, &request) == 0) {
      ++count;
      say_text("interface", request.ifr_name);
    }
  }
  say_number("interfaces", count);
  struct ifreq down = {.ifr_name = "lo"};
  say("lo_flags", ioctl(control, SIOCGIFFLAGS, &down));
  down.ifr_flags &= (short)~IFF_UP;
  if (argc == 1) say("lo_down", ioctl(control, SIOCSIFFLAGS, &down));
  (void)all;
  return 0;
}

/* A program that talks to itself must be able to. */
int probe_talk_to_self(int argc, char** argv) {
  (void)argc;
  (void)argv;
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t size = sizeof address;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  say("bind", bind(listener, (struct sockaddr*)&address, sizeof address));
  say("listen", listen(listener, 1));
  getsockname(listener, (struct sockaddr*)&address, &size);
  const int peer = socket(AF_INET, SOCK_STREAM, 0);
  say("connect", connect(peer, (struct sockaddr*)&address, size));
  say("accept", accept(listener, NULL, NULL));
  return 0;
}
