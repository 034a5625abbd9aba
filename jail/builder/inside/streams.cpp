#include "jail/builder/inside/streams.h"

#include <asm/termbits.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "jail/builder/inside/identity.h"
#include "jail/builder/mounting.h"
#include "jail/wire/relay.h"

namespace mayfly {

namespace {

// kernel.pty.max is shared by the whole host; one jail gets a small part of it.
constexpr const char* kMostPtys = "8";  // all jails of a host share some 3 000

void hand_to_relay(Inside& in, const int* outer, std::uint32_t count) {
  StreamsMessage message;
  message.count = count;
  iovec body{&message, sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &body;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = CMSG_SPACE(count * sizeof(int));
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(count * sizeof(int));
  std::memcpy(CMSG_DATA(rights), outer, count * sizeof(int));
  in.check(::sendmsg(in.stream, &header, MSG_NOSIGNAL));
  for (std::uint32_t i = 0; i < count; ++i) ::close(outer[i]);
}

Streams make_pipes(Inside& in) {
  int input[2], output[2], error[2];
  for (int* ends : {input, output, error}) in.check(::pipe2(ends, O_CLOEXEC));
  const int outer[3] = {input[1], output[0], error[0]};
  hand_to_relay(in, outer, 3);
  return {{input[0], output[1], error[1]}};
}

// The slave side comes from the master (TIOCGPTPEER), never from a path that a jail could have changed.
Streams make_pty(Inside& in, int devpts) {
  const int master = ::openat(devpts, "ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  in.check(master);
  const int unlocked = 0;
  in.check(::ioctl(master, TIOCSPTLCK, &unlocked));
  const int slave = ::ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  in.check(slave);
  const winsize size{in.plan.rows, in.plan.columns, 0, 0};
  in.check(::ioctl(master, TIOCSWINSZ, &size));
  termios settings{};
  in.check(::ioctl(slave, TCGETS, &settings));
  settings.c_iflag |= IUTF8;  // erasing removes characters, not bytes
  in.check(::ioctl(slave, TCSETS, &settings));
  hand_to_relay(in, &master, 1);
  return {{slave, slave, slave}};
}

// pid 1 itself keeps nothing of the builder's streams.
void replace_own_streams(Inside& in) {
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  in.check(null);
  for (const int number : {0, 1, 2}) in.check(::dup3(null, number, O_CLOEXEC));
  ::close(null);
}

}  // namespace

int mount_devpts(Inside& in) {
  if (in.leaves_out(Layer::Devpts)) return -1;
  const Fd context(::fsopen("devpts", FSOPEN_CLOEXEC));
  in.check(context.get());
  in.check(set_option(context.get(), "mode", "0620"));
  in.check(set_option(context.get(), "ptmxmode", "0666"));
  in.check(set_option(context.get(), "max", kMostPtys));
  Fd devpts = finish_mount(context.get(), MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  in.check(devpts.get());
  in.check(attach(devpts.get(), AT_FDCWD, "/jail/dev/pts"));
  return devpts.release();
}

Streams make_streams(Inside& in, int devpts) {
  replace_own_streams(in);
  own_files_as_run(in);  // so that the program may open /dev/stdout and its own terminal anew
  const Streams streams = in.plan.terminal != 0 ? make_pty(in, devpts) : make_pipes(in);
  own_files_as_init(in);
  if (devpts >= 0) ::close(devpts);
  ::close(in.stream);
  return streams;
}

void close_inner(const Streams& streams) {
  ::close(streams.inner[0]);
  if (streams.inner[1] == streams.inner[0]) return;
  ::close(streams.inner[1]);
  ::close(streams.inner[2]);
}

}  // namespace mayfly
