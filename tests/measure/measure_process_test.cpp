// Measuring a live process that puts on one layer after the other: each that is missing is named.
// Runs as anybody who may make user namespaces; everything is measured as on a rootless engine (one shared uid).
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <fstream>
#include <functional>

#include "jail/builder/filter/build_id.h"
#include "jail/os/clock.h"
#include "jail/supervisor/measure.h"

using namespace mayfly;

namespace {

enum class Dressed { Not, Namespaces, Mapped, Powerless, Filtered };

void write_file(const char* path, const std::string& text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (::write(file, text.data(), text.size()) < 0) ::_exit(90);
  ::close(file);
}

void drop_all() {
  for (unsigned long capability = 0; ::prctl(PR_CAPBSET_DROP, capability) == 0; ++capability) {
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  if (::syscall(SYS_capset, &header, none) != 0) ::_exit(91);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) ::_exit(92);
}

void filter_nothing() {
  sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const sock_fprog program{1, &allow};
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) ::_exit(93);
}

void dress(Dressed upto, uid_t uid, gid_t gid) {
  const auto wants = [&](Dressed layer) { return upto >= layer; };
  if (wants(Dressed::Namespaces) && ::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |
                                              CLONE_NEWUTS | CLONE_NEWCGROUP) != 0)
    ::_exit(94);
  if (wants(Dressed::Mapped)) {
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/uid_map", "1000 " + std::to_string(uid) + " 1");
    write_file("/proc/self/gid_map", "1000 " + std::to_string(gid) + " 1");
  }
  if (wants(Dressed::Powerless)) drop_all();
  if (wants(Dressed::Filtered)) filter_nothing();
  ::prctl(PR_SET_DUMPABLE, 1);  // as the program at the gate is
}

// A child in this state, that lives as long as the object. unshare(CLONE_NEWPID) moves only children.
class Subject {
 public:
  explicit Subject(Dressed upto) {
    int ready[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ready) == 0);
    ours_ = Fd{ready[0]};
    const Fd theirs{ready[1]};
    const uid_t uid = ::geteuid();
    const gid_t gid = ::getegid();
    parent_ = ::fork();
    if (parent_ == 0) {
      dress(upto, uid, gid);
      pid_t inner = ::fork();
      if (inner == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) ::pause();
      }
      if (::write(theirs.get(), &inner, sizeof inner) != sizeof inner) ::_exit(95);
      for (;;) ::pause();
    }
    REQUIRE(::read(ours_.get(), &pid_, sizeof pid_) == sizeof pid_);
    // fork() answers in the parent's own pid namespace, which is ours: unshare() moved the children only.
  }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  ~Subject() {
    ::kill(pid_, SIGKILL);
    ::kill(parent_, SIGKILL);
    ::waitpid(parent_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  Fd ours_;
  pid_t parent_ = 0, pid_ = 0;
};

struct Asked {
  GateMessage proof;
  Spec spec;
  JailCgroup group;
  BuilderReply builder;
  Asked() {
    spec.environment = {"HOME=/home/run", "LANG=C.UTF-8"};
    proof.environment_count = 2;
    proof.environment_hash = kFnvOffset;
    for (const std::string& entry : spec.environment)
      proof.environment_hash = fnv1a(proof.environment_hash, entry.c_str(), entry.size() + 1);
    proof.filter_errno = kFilterBuildErrno;
    proof.landlock_errno = kernel_landlock_abi() > 0 ? EACCES : 0;
    spec.limits = kExecLimits.defaults;
  }
};

// Both halves. A test process has neither a jail's mounts nor its rlimits, which are looked at last in either half.
Expected<Controls> measure(const ControlMeasurer& measurer, pid_t pid, const Asked& asked) {
  const GateFacts facts{pid, 0, asked.proof, asked.spec, asked.group, RelayState::Attached, asked.builder};
  auto placed = measurer.measure_placed(facts);
  if (!placed && placed.error().subject != "filesystem") return placed;
  auto at_gate = measurer.measure_at_gate(facts, placed.value_or(Controls()));
  if (!at_gate && at_gate.error().subject != "processes") return at_gate;
  return placed;
}

// Which control is found wrong on a child in this state.
std::string wrong(Dressed upto, const Asked& asked) {
  const Subject subject(upto);
  const auto measurer = ControlMeasurer::make({0, true});
  REQUIRE(measurer.has_value());
  const auto found = measure(*measurer, subject.pid(), asked);
  return found ? "" : found.error().subject + ": " + found.error().why;
}

bool starts(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

}  // namespace

TEST_CASE("a process in our own namespaces is refused at once") {
  CHECK(starts(wrong(Dressed::Not, {}), "identity: the program shares our user namespace"));
}

TEST_CASE("a process that shares one namespace with the builder, and none with us, is refused") {
  const Subject subject(Dressed::Filtered);
  struct stat network {};
  REQUIRE(::stat(("/proc/" + std::to_string(subject.pid()) + "/ns/net").c_str(), &network) == 0);
  Asked asked;
  asked.builder.namespaces[3] = network.st_ino;
  const auto measurer = ControlMeasurer::make({0, true});
  const auto found = measure(*measurer, subject.pid(), asked);
  REQUIRE_FALSE(found);
  CHECK(found.error().subject == "network");
  CHECK(found.error().why == "the program shares the builder's net namespace");
}

TEST_CASE("a process in namespaces of its own, but with no map, is not the user that was asked for") {
  CHECK(starts(wrong(Dressed::Namespaces, {}), "identity: uid_map"));
}

TEST_CASE("a mapped process that could still gain rights is found") {
  CHECK(starts(wrong(Dressed::Mapped, {}), "privileges"));
}

TEST_CASE("a process without rights and without a filter is found") {
  CHECK(starts(wrong(Dressed::Powerless, {}), "syscalls: no seccomp filter"));
}

TEST_CASE("a filter that is not ours is found by its build id") {
  Asked asked;
  asked.proof.filter_errno = ENOSYS;
  CHECK(starts(wrong(Dressed::Filtered, asked), "syscalls: the filter is another one"));
}

TEST_CASE("Landlock that was not proved is found where the kernel has it") {
  if (kernel_landlock_abi() == 0) {
    WARN("this kernel has no Landlock");
    return;
  }
  Asked asked;
  asked.proof.landlock_errno = 0;
  CHECK(starts(wrong(Dressed::Filtered, asked), "files"));
}

TEST_CASE("an environment that is not exactly the one asked for is found") {
  Asked more;
  more.proof.environment_count = 3;
  CHECK(starts(wrong(Dressed::Filtered, more), "environment"));
  Asked other;
  other.spec.environment[0] = "HOME=/root";
  CHECK(starts(wrong(Dressed::Filtered, other), "environment"));
}

TEST_CASE("rlimits that were not set are found") {
  const Subject subject(Dressed::Filtered);
  const Asked asked;
  const auto measurer = ControlMeasurer::make({0, true});
  const auto found = measurer->measure_at_gate(
      {subject.pid(), 0, asked.proof, asked.spec, asked.group, RelayState::Attached, asked.builder}, {});
  REQUIRE_FALSE(found);
  CHECK(found.error().subject == "processes");
}

TEST_CASE("the host's mount table is not a jail's") { CHECK(starts(wrong(Dressed::Filtered, {}), "filesystem")); }

TEST_CASE("a process that is gone cannot be measured") {
  const Asked asked;
  pid_t pid = 0;
  {
    const Subject subject(Dressed::Not);
    pid = subject.pid();
  }
  ::usleep(50'000);
  const auto measurer = ControlMeasurer::make({0, true});
  CHECK_FALSE(measure(*measurer, pid, asked));
}
