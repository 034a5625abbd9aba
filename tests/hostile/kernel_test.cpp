#include <catch2/catch.hpp>

#include "tests/hostile/arena.h"

using namespace mayfly;
using namespace mayfly::test;

TEST_CASE("A37 no mount and no root is changed, through the old calls or the new", "[P11]") {
  if (arena().as_root()) {
    const OutsideRun control = arena().control({"mounts"});
    CHECK(control.lines.named_with("ok") ==
          "chroot fsconfig fsmount fsopen fspick mount mount_setattr move_mount open_tree pivot_root umount");
  }
  const Outcome inside = arena().attack({.program = "mounts"});
  INFO(inside.story());
  CHECK(inside.exited(0));
  CHECK(inside.lines.named_with("EPERM") ==
        "chroot fsconfig fsmount fsopen fspick mount mount_setattr move_mount open_tree pivot_root remount umount");
}

TEST_CASE("A36 no namespace is made or joined", "[P11]") {
  if (arena().as_root()) {
    const OutsideRun control = arena().control({"namespaces"});
    CHECK(control.lines.named_with("EPERM") == "");
    CHECK(control.lines.of("clone3") == "ok");
    CHECK(control.lines.of("setns") == "ok");
  }
  const Outcome inside = arena().attack({.program = "namespaces"});
  INFO(inside.story());
  CHECK(inside.exited(0));
  CHECK(inside.lines.of("clone3") == "ENOSYS");
  CHECK(inside.lines.named_with("EPERM") ==
        "clone.cgroup clone.ipc clone.mnt clone.net clone.pid clone.user clone.uts setns "
        "unshare.cgroup unshare.ipc unshare.mnt unshare.net unshare.pid unshare.user unshare.uts");
}

TEST_CASE("A44 keyrings do not exist inside", "[P11]") {
  CHECK(arena().control({"keyrings"}).lines.of("keyctl") == "ok");
  const Outcome inside = arena().attack({.program = "keyrings"});
  INFO(inside.story());
  CHECK(inside.lines.named_with("ENOSYS") == "add_key keyctl request_key");
}

TEST_CASE("A45 io_uring does not exist inside", "[P11]") {
  const OutsideRun control = arena().control({"io_uring"});
  if (control.lines.of("io_uring_setup") != "ok") WARN("not provable on this host: it has no io_uring");
  const Outcome inside = arena().attack({.program = "io_uring"});
  INFO(inside.story());
  CHECK(inside.lines.named_with("ENOSYS") == "io_setup io_uring_enter io_uring_register io_uring_setup");
}

// The arguments are nonsense that the kernel itself would answer with EINVAL, ENOENT, ...: EPERM can only be ours.
// Calls that this kernel does not have (ENOSYS outside) are not provable here, and held by tests/filter alone.
TEST_CASE("A46 calls on the kernel and the whole host are refused, and the program goes on", "[P11]") {
  const OutsideRun control = arena().control({"kernel_calls"});
  CHECK(control.lines.count() == 22);
  if (arena().as_root()) CHECK(control.lines.named_with("EPERM") == "");
  const std::string not_here = control.lines.named_with("ENOSYS");
  if (!not_here.empty()) WARN("not provable on this host: " << not_here);
  const Outcome inside = arena().attack({.program = "kernel_calls"});
  INFO(inside.story());
  CHECK(inside.exited(0));
  CHECK(inside.lines.of("modify_ldt") == "ENOSYS");
  CHECK(inside.lines.named_with("EPERM") ==
        "acct bpf delete_module fanotify_init finit_module init_module ioperm iopl kexec_load lookup_dcookie "
        "name_to_handle_at open_by_handle_at perf_event_open quotactl reboot setdomainname sethostname swapoff swapon "
        "syslog userfaultfd");
}

TEST_CASE("A64 clocks are not set, not even with nonsense", "[P11]") {
  CHECK(arena().control({"clocks"}).lines.named_with("EPERM") == "");
  const Outcome inside = arena().attack({.program = "clocks"});
  INFO(inside.story());
  CHECK(inside.lines.named_with("EPERM") == "adjtimex clock_adjtime clock_settime settimeofday");
}

TEST_CASE("personalities other than the present one are refused", "[P11]") {
  CHECK(arena().control({"personality"}).lines.all("personality") == std::vector<std::string>{"ok", "ok"});
  const Outcome inside = arena().attack({.program = "personality"});
  INFO(inside.story());
  CHECK(inside.lines.all("personality") == std::vector<std::string>{"ok", "EPERM"});
}

TEST_CASE("A49 calls of foreign architectures kill the process", "[P11]") {
  const OutsideRun control = arena().control({"foreign_calls"});
  const bool i386 = control.lines.of("int80") == "1";
  if (!i386) WARN("not provable on this host: it has no i386 calls");
  const Outcome inside = arena().attack({.program = "foreign_calls"});
  INFO(inside.story());
  CHECK(inside.lines.of("int80") == (i386 ? "SYS" : "SEGV"));
  CHECK(inside.lines.of("socketcall") == (i386 ? "SYS" : "SEGV"));
  CHECK(inside.lines.of("x32") == "SYS");
}

TEST_CASE("A48 sockets are of three families and of usual protocols", "[P03][P11]") {
  const OutsideRun control = arena().control({"socket_families"});
  CHECK(control.lines.of("family.16") == "ok");
  CHECK(control.lines.of("wide") == "ok");
  const Outcome inside = arena().attack({.program = "socket_families"});
  INFO(inside.story());
  CHECK(inside.lines.named_with("ok") == "family.1 family.10 family.2");
  CHECK(inside.lines.of("family.16") == "EAFNOSUPPORT");
  CHECK(inside.lines.of("family.17") == "EAFNOSUPPORT");
  CHECK(inside.lines.of("family.40") == "EAFNOSUPPORT");
  CHECK(inside.lines.of("wide") == "EAFNOSUPPORT");
  CHECK(inside.lines.of("sctp") == "EPROTONOSUPPORT");
  CHECK(inside.lines.of("raw") == "EPERM");
}
