#include "jail/builder/filter/jail_filter.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>

#include "jail/builder/filter/init_rows.h"
#include "tests/filter/row_oracle.h"

using namespace mayfly;
using mayfly::test::BpfInterpreter;
using mayfly::test::Call;
using mayfly::test::Table;

namespace {

constexpr std::uint32_t kHighestNumber = 600;
constexpr std::uint32_t kAllow = SECCOMP_RET_ALLOW, kKill = SECCOMP_RET_KILL_PROCESS;
constexpr std::uint32_t error(int number) { return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(number); }

const JailFilters& filters() {
  static const JailFilters compiled = compile_jail_filters().value();
  return compiled;
}

Table program_table() {
  return test::table_of(Verdict::Absent, filter::kBuilderRows, filter::kDeniedRows, filter::kAllowedRows);
}
Table init_table() { return test::table_of(Verdict::Deny, filter::kInitRows); }
Table builder_table() { return test::table_of(Verdict::Allow, filter::kBuilderRows); }

void add_proof(Table& table) {
  table.rows.push_back({kReservedCall, "build id", Verdict::TellBuildId, kAlways, "proof"});
}

// Every number with every argument of interest in every position. Counts instead of one CHECK each: there are many.
std::size_t disagreements(const Table& table, const std::vector<sock_filter>& program) {
  const BpfInterpreter kernel(program);
  std::size_t wrong = 0;
  const auto compare = [&](const Call& call) {
    if (kernel.action(call) != table.expected(call, filter::kBuildErrno)) ++wrong;
  };
  for (std::uint32_t number = 0; number <= kHighestNumber; ++number) {
    const auto values = table.values_of_interest(number);
    for (std::size_t position = 0; position < 6; ++position) {
      for (const std::uint64_t value : values) {
        Call call{number, {}};
        call.arguments[position] = value;
        compare(call);
        // Two arguments may be judged one after the other: the others as a family, a command or a pid would be.
        call.arguments.fill(AF_UNIX);
        call.arguments[position] = value;
        compare(call);
      }
    }
  }
  for (std::uint32_t number : {601u, kReservedCall - 1, kReservedCall, kReservedCall + 1, kX32Bit - 1, kX32Bit,
                               kX32Bit + 59, 0x7fff'ffffu, 0x8000'0000u, 0xffff'ffffu}) {
    compare({number, {}});
  }
  return wrong;
}

std::uint32_t program_says(std::uint32_t number, std::array<std::uint64_t, 6> arguments = {}) {
  return BpfInterpreter(filters().program).action({number, arguments});
}

}  // namespace

TEST_CASE("each filter answers every call and argument exactly as its rows say", "[P11]") {
  Table program = program_table(), init = init_table();
  add_proof(program);
  add_proof(init);
  CHECK(disagreements(program, filters().program) == 0);
  CHECK(disagreements(init, filters().init) == 0);
  CHECK(disagreements(builder_table(), filters().builder) == 0);
}

TEST_CASE("foreign architectures and x32 numbers are killed by each filter", "[P11]") {
  for (const auto* program : {&filters().builder, &filters().program, &filters().init}) {
    const BpfInterpreter kernel(*program);
    for (std::uint32_t number = 0; number <= kHighestNumber; ++number) {
      CHECK(kernel.action({number, {}, AUDIT_ARCH_I386}) == kKill);
      CHECK(kernel.action({number | kX32Bit, {}}) == kKill);
    }
    CHECK(kernel.action({1, {}, AUDIT_ARCH_AARCH64}) == kKill);
  }
}

TEST_CASE("every row of every table has a reason and a name", "[style]") {
  for (const Table& table : {program_table(), init_table(), builder_table()}) {
    for (const SyscallRow& row : table.rows) {
      INFO(row.name);
      CHECK_FALSE(row.name.empty());
      CHECK(row.reason.size() >= 7);
    }
  }
}

TEST_CASE("the program's filter contains every row of the builder's deny list", "[P11]") {
  for (const SyscallRow& row : filter::kBuilderRows) {
    INFO(row.name);
    REQUIRE(row.verdict != Verdict::Allow);
    CHECK(program_says(row.number) == test::action_of(row.verdict, 0));
  }
}

TEST_CASE("calls that are newer than the tables are absent", "[P11]") {
  // cachestat, lsm_get_self_attr, lsm_list_modules, setxattrat.., file_getattr.., and what is to come
  for (std::uint32_t number : {451u, 459u, 461u, 463u, 464u, 465u, 466u, 468u, 469u})
    CHECK(program_says(number) == error(ENOSYS));
  for (std::uint32_t number = 471; number <= kHighestNumber; ++number) CHECK(program_says(number) == error(ENOSYS));
}

TEST_CASE("mounts are refused through the old calls and the new", "[P11]") {
  for (std::uint32_t number : {165u, 166u, 155u, 161u, 428u, 429u, 430u, 431u, 432u, 433u, 442u, 467u}) {
    INFO(number);
    CHECK(program_says(number) == error(EPERM));
  }
}

TEST_CASE("namespaces are refused through clone, clone3, unshare and setns", "[P11]") {
  CHECK(program_says(__NR_unshare) == error(EPERM));
  CHECK(program_says(__NR_setns) == error(EPERM));
  CHECK(program_says(__NR_clone3) == error(ENOSYS));
  for (std::uint64_t flag :
       {0x00020000u, 0x02000000u, 0x04000000u, 0x08000000u, 0x10000000u, 0x20000000u, 0x40000000u}) {
    CHECK(program_says(__NR_clone, {flag | 17}) == error(EPERM));
    CHECK(program_says(__NR_clone, {flag | 0xffff'ffff'0000'0011ull}) == error(EPERM));
  }
  CHECK(program_says(__NR_clone, {17}) == kAllow);
  CHECK(program_says(__NR_clone, {0x3d0f00}) == kAllow);  // pthread_create
  CHECK(program_says(__NR_clone, {0x4111}) == kAllow);    // vfork: CLONE_VM | CLONE_VFORK | SIGCHLD
}

TEST_CASE("socket families and protocols outside the allowlist are refused, upper halves ignored", "[P03][P11]") {
  for (std::uint64_t family : {AF_UNIX, AF_INET, AF_INET6}) {
    CHECK(program_says(__NR_socket, {family, SOCK_STREAM, 0}) == kAllow);
    CHECK(program_says(__NR_socket, {family | 0xffff'ffff'0000'0000ull, SOCK_STREAM, 0}) == kAllow);
    CHECK(program_says(__NR_socketpair, {family, SOCK_STREAM, 0}) ==
          (family == AF_UNIX ? kAllow : error(EAFNOSUPPORT)));
    for (std::uint64_t type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW})
      CHECK(program_says(__NR_socket, {family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0}) == kAllow);
    for (std::uint64_t type : {0, 4, 6, 7, 10, 15}) {  // RDM, DCCP, PACKET
      INFO(type);
      CHECK(program_says(__NR_socket, {family, type, 0}) == error(EINVAL));
      CHECK(program_says(__NR_socket, {family, type | SOCK_CLOEXEC, 0}) == error(EINVAL));
    }
    CHECK(program_says(__NR_socket, {family, SOCK_SEQPACKET, 0}) == (family == AF_UNIX ? kAllow : error(EINVAL)));
  }
  for (std::uint64_t type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET})
    CHECK(program_says(__NR_socketpair, {AF_UNIX, type | SOCK_CLOEXEC, 0}) == kAllow);
  for (std::uint64_t type : {0, 3, 4, 6, 10}) CHECK(program_says(__NR_socketpair, {AF_UNIX, type, 0}) == error(EINVAL));
  for (std::uint64_t family = 0; family < 64; ++family) {
    if (family == AF_UNIX || family == AF_INET || family == AF_INET6) continue;
    INFO(family);
    CHECK(program_says(__NR_socket, {family, SOCK_DGRAM, 0}) == error(EAFNOSUPPORT));
    CHECK(program_says(__NR_socketpair, {family, SOCK_DGRAM, 0}) == error(EAFNOSUPPORT));
  }
  for (std::uint64_t protocol : {33u, 132u, 136u, 262u}) {  // DCCP, SCTP, UDP-Lite, MPTCP
    CHECK(program_says(__NR_socket, {AF_INET, SOCK_STREAM, protocol}) == error(EPROTONOSUPPORT));
  }
}

TEST_CASE("what would tell of the host's files, fill pipes without bound, or take huge pages is refused",
          "[P05][P06]") {
  for (const std::uint32_t number :
       {__NR_inotify_init, __NR_inotify_init1, __NR_inotify_add_watch, __NR_inotify_rm_watch, __NR_sync, __NR_syncfs})
    CHECK(program_says(number, {}) == error(ENOSYS));
  CHECK(program_says(__NR_fcntl, {3, 1026 /* F_NOTIFY */}) == error(EINVAL));
  CHECK(program_says(__NR_fcntl, {3, F_GETFL}) == kAllow);
  CHECK(program_says(__NR_splice, {}) == error(EINVAL));
  CHECK(program_says(__NR_tee, {}) == error(EINVAL));
  CHECK(program_says(__NR_mmap, {0, 4096, 3, 0x22}) == kAllow);
  CHECK(program_says(__NR_mmap, {0, 4096, 3, 0x22 | 0x40000}) == error(EINVAL));
  CHECK(program_says(__NR_memfd_create, {0, 1}) == kAllow);
  CHECK(program_says(__NR_memfd_create, {0, 1 | 4}) == error(EINVAL));
  CHECK(program_says(__NR_shmget, {0, 4096, 01600}) == kAllow);
  CHECK(program_says(__NR_shmget, {0, 4096, 01600 | 04000}) == error(EINVAL));
}

TEST_CASE("terminal injection, pipe enlargement and real-time scheduling are refused", "[P11]") {
  for (std::uint64_t command : {TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS}) {
    CHECK(program_says(__NR_ioctl, {0, command}) == error(EPERM));
    CHECK(program_says(__NR_ioctl, {0, command | 0x1'0000'0000ull}) == error(EPERM));
  }
  CHECK(program_says(__NR_ioctl, {0, TIOCGWINSZ}) == kAllow);
  CHECK(program_says(__NR_ioctl, {0, TIOCSCTTY}) == kAllow);
  CHECK(program_says(__NR_fcntl, {0, F_SETPIPE_SZ}) == error(EPERM));
  CHECK(program_says(__NR_fcntl, {0, F_SETFL}) == kAllow);
  for (std::uint64_t policy : {SCHED_FIFO, SCHED_RR, 6 /* deadline */, SCHED_FIFO | 0x4000'0000}) {
    CHECK(program_says(__NR_sched_setscheduler, {0, policy}) == error(EPERM));
  }
  CHECK(program_says(__NR_sched_setscheduler, {0, SCHED_BATCH | 0x4000'0000}) == kAllow);
  CHECK(program_says(__NR_sched_setattr) == error(EPERM));
}

TEST_CASE("limits of other processes, personalities and device nodes are refused", "[P11]") {
  CHECK(program_says(__NR_prlimit64, {0}) == kAllow);
  CHECK(program_says(__NR_prlimit64, {1}) == error(EPERM));
  CHECK(program_says(__NR_personality, {0xffff'ffff}) == kAllow);
  CHECK(program_says(__NR_personality, {0x0040'0000}) == error(EPERM));  // READ_IMPLIES_EXEC
  CHECK(program_says(__NR_mknodat, {0, 0, S_IFIFO | 0600}) == kAllow);
  CHECK(program_says(__NR_mknodat, {0, 0, S_IFCHR | 0600}) == error(EPERM));
  CHECK(program_says(__NR_mknod, {0, S_IFBLK | 0600}) == error(EPERM));
}

TEST_CASE("the reserved call answers the build id, which is no errno of the kernel's", "[P20]") {
  CHECK(kFilterBuildErrno >= 1024);
  CHECK(kFilterBuildErrno <= 4095);
  CHECK(program_says(kReservedCall) == error(kFilterBuildErrno));
}

TEST_CASE("calls without conditions are answered without reading arguments", "[speed]") {
  const BpfInterpreter kernel(filters().program);
  for (const SyscallRow& row : filter::kAllowedRows) {
    const auto answer = kernel.run({row.number, {}});
    INFO(row.name);
    REQUIRE(answer);
    CHECK(answer->action == kAllow);
    CHECK_FALSE(answer->read_arguments);
    CHECK(answer->steps <= 14);
  }
  CHECK(filters().program.size() <= 220);
}

TEST_CASE("pid 1 may not make files, sockets, processes or mappings", "[P11]") {
  const BpfInterpreter kernel(filters().init);
  for (std::uint32_t number : {__NR_open, __NR_openat, __NR_socket, __NR_clone, __NR_fork, __NR_vfork, __NR_execve,
                               __NR_mmap, __NR_mprotect, __NR_ptrace, __NR_mount, __NR_prctl, __NR_setns}) {
    INFO(number);
    CHECK(kernel.action({number, {}}) == error(EPERM));
  }
}
