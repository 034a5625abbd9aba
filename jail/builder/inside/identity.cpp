#include "jail/builder/inside/identity.h"

#include <linux/capability.h>
#include <linux/securebits.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace mayfly {

namespace {

bool has_two_ids(const Inside& in) { return in.host.privilege == Privilege::Root; }

// The pages behind /proc/1/cmdline still hold the builder's.
void hide_command_line(const Inside& in) {
  constexpr char kName[] = "init";
  std::memset(in.host.command_line, 0, in.host.command_line_size);
  if (in.host.command_line_size > sizeof kName) std::memcpy(in.host.command_line, kName, sizeof kName);
  ::prctl(PR_SET_NAME, kName);
}

// setfsuid(2) reports nothing: asking again for an impossible id tells what it is now.
void set_file_ids(Inside& in, uid_t uid, gid_t gid) {
  ::setfsgid(gid);
  ::setfsuid(uid);
  constexpr auto kAsk = static_cast<uid_t>(-1);
  if (::setfsgid(kAsk) != static_cast<int>(gid) || ::setfsuid(kAsk) != static_cast<int>(uid)) in.fail(EPERM);
}

}  // namespace

void drop_bounding_set(const Inside& in) {
  if (in.leaves_out(Layer::Capabilities)) return;
  unsigned long capability = 0;
  while (::prctl(PR_CAPBSET_DROP, capability) == 0) ++capability;  // EINVAL past the kernel's last one
}

void wait_for_ids(Inside& in) {
  char byte = 0;
  ssize_t count = -1;
  do count = ::read(in.ids_ready, &byte, 1);
  while (count < 0 && errno == EINTR);
  in.check(count);
  if (count == 0) in.fail(EPIPE);  // the builder has given up or died
  ::close(in.ids_ready);
}

void become_init(Inside& in) {
  if (has_two_ids(in)) {
    in.check(::setresgid(kInsideInitUid, kInsideInitUid, kInsideRunUid));
    in.check(::setresuid(kInsideInitUid, kInsideInitUid, kInsideRunUid));
  }
  hide_command_line(in);
  in.check(::sethostname("mayfly", 6));
  in.check(::setdomainname("(none)", 6));  // the kernel's own default; a copy of the host's otherwise
}

void own_files_as_run(Inside& in) {
  if (has_two_ids(in)) set_file_ids(in, kInsideRunUid, kInsideRunUid);
}

void own_files_as_init(Inside& in) {
  if (has_two_ids(in)) set_file_ids(in, kInsideInitUid, kInsideInitUid);
}

void drop_privileges(Inside& in) {
  if (!in.leaves_out(Layer::Capabilities)) {
    constexpr unsigned long kFixed = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |
                                     SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                                     SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
    in.check(::prctl(PR_SET_SECUREBITS, kFixed));
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    const __user_cap_data_struct none[2] = {};
    in.check(::syscall(SYS_capset, &header, none));
  }
  if (!in.leaves_out(Layer::NoNewPrivs)) in.check(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

void become_run(Inside& in) {
  if (!has_two_ids(in)) return;
  in.check(::setresgid(kInsideRunUid, kInsideRunUid, kInsideRunUid));
  in.check(::setresuid(kInsideRunUid, kInsideRunUid, kInsideRunUid));
}

}  // namespace mayfly
