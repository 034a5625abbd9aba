// What a jail is made of, looked at from both sides of the wall.
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <regex>

#include "jail/builder/filter/build_id.h"
#include "jail/spec/limits.h"
#include "tests/builder/bench.h"

using namespace mayfly;
using namespace mayfly::bench;

namespace {

Bench start_bench(BenchOptions options = {}) {
  auto started = Bench::start(options);
  if (!started) FAIL(started.error().text());
  return std::move(*started);
}

std::string shell(Bench& bench, const std::string& script) {
  Built jail = bench.build(job_for({"/bin/sh", "-c", script}));
  if (jail.failed) FAIL("step " << name(static_cast<Step>(jail.failed->step)) << " errno " << jail.failed->error);
  const Outcome outcome = bench.run(jail);
  return outcome.out + outcome.err;
}

std::string status_line(pid_t pid, const std::string& key) {
  const std::string status = read_text("/proc/" + std::to_string(pid) + "/status");
  std::smatch found;
  if (std::regex_search(status, found, std::regex("(^|\n)" + key + ":\\s*([^\n]*)"))) return found[2];
  return "";
}

void check_powerless(pid_t pid) {
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"})
    CHECK(status_line(pid, set) == "0000000000000000");
  CHECK(status_line(pid, "NoNewPrivs") == "1");
  CHECK(status_line(pid, "Seccomp") == "2");
}

std::string link_of(const std::string& path) {
  char target[256] = {};
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target - 1);
  return std::string(target, static_cast<std::size_t>(length > 0 ? length : 0));
}

}  // namespace

TEST_CASE("every process of a jail is powerless before the gate opens", "[P11][root]") {
  Bench bench = start_bench();
  Built jail = bench.build(job_for({"sleep", "20"}));
  REQUIRE(jail.at_gate);
  check_powerless(jail.reply.pid);
  check_powerless(jail.program);
  CHECK(jail.at_gate->filter_errno == kFilterBuildErrno);
  CHECK(jail.at_gate->landlock_errno == (bench.ready().landlock_abi > 0 ? EACCES : 0));
  bench.destroy(jail);
}

TEST_CASE("a jail lives in seven namespaces of its own", "[P01][root]") {
  Bench bench = start_bench();
  Built jail = bench.build(job_for({"sleep", "20"}));
  REQUIRE(jail.at_gate);
  for (const char* kind : {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"}) {
    INFO(kind);
    const std::string theirs = link_of("/proc/" + std::to_string(jail.program) + "/ns/" + kind);
    CHECK_FALSE(theirs.empty());
    CHECK(theirs != link_of(std::string("/proc/self/ns/") + kind));
    CHECK(theirs != link_of("/proc/" + std::to_string(bench.pid()) + "/ns/" + kind));
  }
  bench.destroy(jail);
}

TEST_CASE("as root each slot has host uids of its own, and no uid 0 exists inside", "[P01][root]") {
  Bench bench = start_bench();
  Job job = job_for({"/bin/sh", "-c", "id -u; cat /proc/self/uid_map | wc -l; grep -c '^ *0 ' /proc/self/uid_map"});
  job.plan.slot = 5;
  Built jail = bench.build(job);
  REQUIRE(jail.at_gate);
  const std::string first = std::to_string(kUidBase + 100'000'000 + 5 * kUidsPerSlot + 1);
  const std::string second = std::to_string(kUidBase + 100'000'000 + 5 * kUidsPerSlot + 2);
  CHECK(status_line(jail.reply.pid, "Uid") == first + "\t" + first + "\t" + second + "\t" + first);
  CHECK(status_line(jail.program, "Uid") == second + "\t" + second + "\t" + second + "\t" + second);
  CHECK(bench.run(jail).out == "1000\n2\n0\n");
}

TEST_CASE("pid 1 shows nothing of the builder, and hides from the program", "[P12][root]") {
  Bench bench = start_bench();
  Built jail = bench.build(job_for({"/bin/sh", "-c", "cat /proc/1/cmdline; ls /proc | grep -c '^1$'"}));
  REQUIRE(jail.at_gate);
  const std::string proc = "/proc/" + std::to_string(jail.reply.pid);
  CHECK(read_text(proc + "/comm") == "init\n");
  CHECK(read_text(proc + "/cmdline").find("mayfly") == std::string::npos);
  const Outcome outcome = bench.run(jail);
  CHECK(outcome.out == "0\n");
  CHECK_THAT(outcome.err, Catch::Contains("No such file") || Catch::Contains("not permitted"));
}

TEST_CASE("the only interface is lo, and it is up", "[P03][root]") {
  const bool made_ahead = GENERATE(false, true);
  BenchOptions options;
  options.made_ahead = made_ahead;
  Bench bench = start_bench(options);
  if (made_ahead) ::usleep(200'000);  // the builder makes parts when it has nothing else to do
  Built jail = bench.build(job_for({"/bin/sh", "-c",
                                    "tail -n +3 /proc/net/dev | cut -d: -f1; cat /proc/net/if_inet6 | wc -l;"
                                    "grep -c 127.0.0.1 /proc/net/fib_trie"}));
  REQUIRE(jail.at_gate);
  CHECK(jail.reply.parts_made_ahead == (made_ahead ? 1u : 0u));
  const std::string out = bench.run(jail).out;
  CHECK_THAT(out, Catch::StartsWith("    lo\n"));
  CHECK_THAT(out, !Catch::Contains("\n0\n"));
}

TEST_CASE("no two jails get the same network made ahead", "[P01][root]") {
  BenchOptions options;
  options.made_ahead = true;
  Bench bench = start_bench(options);
  ::usleep(200'000);
  Built one = bench.build(job_for({"sleep", "20"}));
  Job other_slot = job_for({"sleep", "20"});
  other_slot.plan.slot = 1;
  Built two = bench.build(other_slot);
  REQUIRE(one.at_gate);
  REQUIRE(two.at_gate);
  CHECK(link_of("/proc/" + std::to_string(one.program) + "/ns/net") !=
        link_of("/proc/" + std::to_string(two.program) + "/ns/net"));
  bench.destroy(one);
  bench.destroy(two);
}

TEST_CASE("the file tree is read-only but for the jail's own tmpfs", "[P05][root]") {
  Bench bench = start_bench();
  const std::string out = shell(bench,
                                "for d in / /usr /usr/bin /etc /dev /proc /run /home /var; do"
                                "  touch $d/x 2>/dev/null && echo writable $d; done;"
                                "for d in /tmp /var/tmp /dev/shm /run/shm /home/run; do"
                                "  touch $d/x || echo not writable $d; done;"
                                "(echo x > /proc/sys/kernel/hostname) 2>/dev/null && echo wrote sysctl;"
                                "ls /sys 2>/dev/null; echo done");
  CHECK(out == "done\n");
}

TEST_CASE("a root is of its plan's size and of its jail's ids, made ahead or not", "[P05][P06][root]") {
  BenchOptions options;
  options.made_ahead = GENERATE(false, true);
  Bench bench = start_bench(options);
  if (options.made_ahead) ::usleep(200'000);
  std::uint32_t slot = 3;
  for (const std::uint64_t megabytes : {3, 40}) {
    Job job = job_for({"/bin/sh", "-c",
                       "stat -f -c '%b of %S, %c' /; stat -c '%n %a %u %g' /home/run /tmp /dev/shm/. / /run /proc/..;"
                       "ls -A /tmp /home /run /run/shm /var | tr '\\n' ' '"});
    job.plan.disk_bytes = megabytes << 20;
    job.plan.inodes = static_cast<std::uint32_t>(100 * megabytes);
    job.plan.slot = slot++;
    Built jail = bench.build(job);
    REQUIRE(jail.at_gate);
    CHECK(jail.reply.parts_made_ahead == (options.made_ahead ? 1u : 0u));
    const std::string out = bench.run(jail).out;
    CHECK_THAT(out, Catch::StartsWith(std::to_string(megabytes << 8) + " of 4096, " + std::to_string(100 * megabytes) +
                                      "\n/home/run 700 1000 1000\n/tmp 1777 65534 65534\n/dev/shm/. 1777 65534 65534\n"
                                      "/ 755 999 999\n/run 755 65534 65534\n/proc/.. 755 999 999\n"));
    CHECK_THAT(out, Catch::EndsWith("/home: run  /run: shm  /run/shm:  /tmp:  /var: tmp "));
  }
}

TEST_CASE("pid 1 gives way to a program that begins, and is scheduled as any other afterwards scheduled as any other",
          "[root]") {
  Bench bench = start_bench();
  Built jail = bench.build(job_for({"sleep", "20"}));
  REQUIRE(jail.at_gate);
  bench.open_gate(jail);
  CHECK(::sched_getscheduler(jail.reply.pid) == SCHED_BATCH);  // told at Placed
  for (int i = 0; i < 100 && ::sched_getscheduler(jail.reply.pid) != SCHED_OTHER; ++i) ::usleep(10'000);
  CHECK(::sched_getscheduler(jail.reply.pid) == SCHED_OTHER);
  CHECK(::sched_getscheduler(jail.program) == SCHED_OTHER);
  CHECK(status_line(jail.reply.pid, "Cpus_allowed_list") == status_line(::getpid(), "Cpus_allowed_list"));
  bench.destroy(jail);
}

TEST_CASE("the mount table names no path of the host but the bound trees", "[P12][root]") {
  Bench bench = start_bench();
  const std::string table = shell(bench, "cat /proc/self/mountinfo");
  CHECK_THAT(table, !Catch::Contains("mayfly"));
  CHECK_THAT(table, !Catch::Contains("cgroup"));
  CHECK_THAT(table, !Catch::Contains("/trees"));
  CHECK_THAT(table, Catch::Contains(" / /usr ") || Catch::Contains(" /usr /usr ro,nosuid,nodev"));
}

TEST_CASE("a hidden folder is empty, a hidden file cannot be opened", "[P12][root]") {
  BenchOptions options;
  options.hidden = {"usr/share/doc", "usr/bin/env", "usr/no/such/path"};
  Bench bench = start_bench(options);
  const std::string out = shell(bench, "ls -A /usr/share/doc; cat /usr/bin/env; /usr/bin/env");
  CHECK_THAT(out, Catch::StartsWith("cat: /usr/bin/env: Permission denied\n"));
  CHECK_THAT(out, Catch::Contains("/usr/bin/env: Permission denied\n", Catch::CaseSensitive::Yes));
}

TEST_CASE("what tells about the host in /proc is covered, all of it is read-only", "[P11][root]") {
  Bench bench = start_bench();
  const std::string out =
      shell(bench,
            "for f in cmdline interrupts kallsyms kcore keys kmsg kpagecount timer_list vmallocinfo; do"
            "  test -e /proc/$f && cat /proc/$f >/dev/null 2>&1 && echo open $f; done;"
            "for d in acpi scsi; do ls -A /proc/$d 2>/dev/null; done;"
            "for f in sysrq-trigger irq/default_smp_affinity sys/kernel/hostname; do"
            "  (echo 1 > /proc/$f) 2>/dev/null && echo wrote $f; done;"
            "cat /proc/meminfo /proc/cpuinfo /proc/stat /proc/uptime >/dev/null && echo usable");
  CHECK(out == "usable\n");
}

TEST_CASE("nobody inside may make a namespace of any kind", "[P11][root]") {
  Bench bench = start_bench();
  const std::string out = shell(bench, "cat /proc/sys/user/max_*_namespaces | sort | uniq -c | tr -d ' '");
  CHECK(out == "80\n");  // eight files, all of them 0
}

TEST_CASE("disk bytes, inodes, file sizes and descriptors stop at their limits", "[P06][root]") {
  Bench bench = start_bench();
  const std::string full = shell(bench,
                                 "head -c 10000000 /dev/zero > /tmp/a; head -c 10000000 /dev/zero > /dev/shm/b;"
                                 "du -cb /tmp/a /dev/shm/b | tail -1");
  CHECK_THAT(full, Catch::Contains("No space left on device"));
  CHECK_THAT(shell(bench, "i=0; while : > /tmp/f$i; do i=$((i+1)); done; echo $i"), Catch::Contains("No space left"));
  CHECK(shell(bench, "ulimit -n; ulimit -c -H; ulimit -r; ulimit -s; ulimit -l; ulimit -t -H") ==
        "256\n" + std::string("0\n") + "0\n8192\n64\n12\n");  // core: 1 byte is 0 blocks
}

TEST_CASE("a jail is in its v1 cgroups, sees nothing of their paths, and pid 1 with it", "[P06][root]") {
  const std::string folder = "/sys/fs/cgroup/pids/mayfly-builder-test-" + std::to_string(::getpid());
  if (::mkdir(folder.c_str(), 0755) != 0) {
    WARN("not provable on this host: no v1 pids controller");
    return;
  }
  const struct Removed {  // when something fails half-way too
    std::string path;
    ~Removed() { ::rmdir(path.c_str()); }
  } removed{folder};
  {
    Bench bench = start_bench();
    const Fd tasks(::open((folder + "/tasks").c_str(), O_WRONLY | O_CLOEXEC));
    Job job = job_for({"/bin/sh", "-c", "grep pids /proc/self/cgroup | cut -d: -f3"});
    job.plan.cgroup = CgroupKind::V1;
    job.cgroup_fds = {tasks.get()};
    Built jail = bench.build(job);
    REQUIRE(jail.at_gate);
    const std::string listed = read_text(folder + "/tasks");
    CHECK_THAT(listed, Catch::Contains(std::to_string(jail.reply.pid) + "\n"));
    CHECK_THAT(listed, Catch::Contains(std::to_string(jail.program) + "\n"));
    CHECK(bench.run(jail).out == "/\n");
  }
  CHECK(::rmdir(folder.c_str()) == 0);
}
