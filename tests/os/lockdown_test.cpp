#include "jail/os/lockdown.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <functional>

#include "api/confinement.h"
#include "jail/supervisor/confinement.h"
#include "jail/witness/confinement.h"
#include "sshd/confinement.h"
#include "tests/filter/bpf_interpreter.h"

using namespace mayfly;

namespace {

constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr std::uint32_t error(int number) { return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(number); }

struct Confined {
  const char* name;
  std::span<const SyscallRows> calls;
};

const std::array kEverybody = {
    Confined{"supervisor", confinement::kSupervisorCalls}, Confined{"witness", confinement::kWitnessCalls},
    Confined{"listener", confinement::kListenerCalls}, Confined{"session", confinement::kSessionCalls},
    Confined{"api", confinement::kApiCalls}};

class Compiled {
 public:
  explicit Compiled(std::span<const SyscallRows> calls) : program_(compile_filter(Verdict::Absent, calls, 0).value()) {}
  [[nodiscard]] std::uint32_t says(std::uint32_t number, std::array<std::uint64_t, 6> arguments = {}) const {
    return test::BpfInterpreter(program_).action({number, arguments});
  }

 private:
  std::vector<sock_filter> program_;
};

// Exit status of `body` in a child, or -signal. Whatever a locked child does stays in it.
int in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(body());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

constexpr int kNotLocked = 200;

int locked(LockDown order, const std::function<int()>& body) {
  return in_child([&] { return lock_down(order) ? body() : kNotLocked; });
}

int errno_of(long result) { return result < 0 ? errno : 0; }

}  // namespace

TEST_CASE("every process's list compiles, and each of its rows has a reason", "[style]") {
  for (const Confined& process : kEverybody) {
    INFO(process.name);
    const auto filter = compile_filter(Verdict::Absent, process.calls, 0);
    INFO((filter ? std::string() : filter.error().text()));
    CHECK(filter);
    for (const SyscallRows& part : process.calls) {
      for (const SyscallRow& row : part) CHECK(row.reason.size() >= 4);
    }
  }
}

TEST_CASE("front ends signal nobody", "[P09]") {
  for (const auto& calls : {std::span<const SyscallRows>(confinement::kSessionCalls),
                            std::span<const SyscallRows>(confinement::kApiCalls)}) {
    const Compiled filter(calls);
    for (std::uint32_t number :
         {__NR_kill, __NR_tkill, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo, __NR_pidfd_send_signal}) {
      INFO(number);
      CHECK(filter.says(number) == error(EPERM));
    }
  }
}

TEST_CASE("nobody but the listener runs a program, and a session does not either", "[P12]") {
  for (const Confined& process : kEverybody) {
    INFO(process.name);
    const Compiled filter(process.calls);
    const bool listener = std::string_view(process.name) == "listener";
    CHECK(filter.says(__NR_execve) == (listener ? kAllow : error(EPERM)));
    CHECK(filter.says(__NR_execveat) == error(EPERM));
  }
}

TEST_CASE("nobody traces, mounts, makes namespaces or opens a network socket", "[P11]") {
  for (const Confined& process : kEverybody) {
    INFO(process.name);
    const Compiled filter(process.calls);
    for (std::uint32_t number : {__NR_ptrace, __NR_process_vm_writev, __NR_pidfd_getfd, __NR_mount, __NR_unshare,
                                 __NR_setns, __NR_chroot, __NR_bpf}) {
      CHECK(filter.says(number) == error(EPERM));
    }
    for (std::uint32_t number : {__NR_io_uring_setup, __NR_keyctl, __NR_clone3})
      CHECK(filter.says(number) == error(ENOSYS));
    for (std::uint64_t family : {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK}) {
      CHECK(filter.says(__NR_socket, {family, SOCK_STREAM}) != kAllow);
    }
    CHECK(filter.says(__NR_clone, {0x10000000 | SIGCHLD}) == error(EPERM));
    CHECK(filter.says(__NR_getpid, {}) == kAllow);
    CHECK(test::BpfInterpreter(compile_filter(Verdict::Absent, process.calls, 0).value())
              .action({20, {}, AUDIT_ARCH_I386}) == SECCOMP_RET_KILL_PROCESS);
  }
}

TEST_CASE("only the listener and the witness make processes, only sessions and the api make threads", "[P09]") {
  constexpr std::uint64_t kFork = lockdown::kForkFlags, kThread = lockdown::kThreadFlags;
  CHECK(Compiled(confinement::kSupervisorCalls).says(__NR_clone, {kFork}) == error(EPERM));
  CHECK(Compiled(confinement::kSessionCalls).says(__NR_clone, {kFork}) == error(EPERM));
  CHECK(Compiled(confinement::kApiCalls).says(__NR_clone, {kFork}) == error(EPERM));
  CHECK(Compiled(confinement::kWitnessCalls).says(__NR_clone, {kFork}) == kAllow);
  CHECK(Compiled(confinement::kWitnessCalls).says(__NR_clone, {kThread}) == error(EPERM));
  CHECK(Compiled(confinement::kApiCalls).says(__NR_clone, {kThread}) == kAllow);
}

TEST_CASE("what a session may call its listener may call too, because a session inherits that list", "[P40]") {
  const Compiled listener(confinement::kListenerCalls), session(confinement::kSessionCalls);
  constexpr std::array<std::uint64_t, 7> kArguments = {0, 1, 2, lockdown::kThreadFlags, TCGETS, FIONREAD, FIONBIO};
  for (std::uint32_t number = 0; number < 500; ++number) {
    for (std::uint64_t argument : kArguments) {
      INFO(number << " with " << argument);
      if (session.says(number, {argument, argument}) == kAllow)
        CHECK(listener.says(number, {argument, argument}) == kAllow);
    }
  }
}

TEST_CASE("a locked process reaches the places it named and no other", "[P12]") {
  if (landlock_version() == 0) {
    WARN("this kernel has no Landlock");
    return;
  }
  const auto reach_etc = confinement::api({{"/etc", Reach::Access::Read}, {"/no/such/place", Reach::Access::Write}});
  CHECK(locked(reach_etc, [] { return errno_of(open("/etc/passwd", O_RDONLY)); }) == 0);
  CHECK(locked(reach_etc, [] { return errno_of(open("/proc/self/status", O_RDONLY)); }) == EACCES);
  CHECK(locked(reach_etc, [] { return errno_of(open("/etc/mayfly-test-file", O_WRONLY | O_CREAT, 0600)); }) == EACCES);
  CHECK(locked(confinement::witness(), [] { return errno_of(open("/etc/passwd", O_RDONLY)); }) == EACCES);
}

TEST_CASE("a locked process is undumpable, has no new privileges and meets its denials for real", "[P11]") {
  CHECK(locked(confinement::witness(), [] { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0); }) == 0);
  CHECK(locked(confinement::witness(), [] { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); }) == 1);
  const auto session = confinement::session({});
  CHECK(locked(session, [] { return errno_of(kill(getppid(), 0)); }) == EPERM);
  CHECK(locked(session, [] { return errno_of(syscall(__NR_clone, SIGCHLD, 0, 0, 0, 0)); }) == EPERM);
  CHECK(locked(session, [] { return errno_of(socket(AF_INET, SOCK_STREAM, 0)); }) == EAFNOSUPPORT);
  CHECK(locked(session, [] { return errno_of(execl("/bin/true", "true", nullptr)); }) == EPERM);
}

TEST_CASE("abort still ends a locked process with its own signal", "[P09]") {
  CHECK(locked(confinement::session({}), []() -> int {
          std::signal(SIGABRT, SIG_DFL);  // Catch has a handler of its own
          std::abort();
        }) == -SIGABRT);
}

TEST_CASE("a locked witness can fork a relay that is locked as well", "[P09]") {
  CHECK(locked(confinement::witness(), [] {
          const pid_t relay = fork();
          if (relay < 0) return 1;
          if (relay == 0) _exit(errno_of(open("/etc/passwd", O_RDONLY)) == 0 ? 3 : 2);
          int status = 0;
          waitpid(relay, &status, 0);
          return WEXITSTATUS(status);
        }) == (landlock_version() > 0 ? 2 : 3));
}
