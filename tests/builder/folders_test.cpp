// The folders of a profile: `readonly` at /data, `seed` copied into the home directory.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/builder/bench.h"
#include "tests/cli/temporary_directory.h"

using namespace mayfly;
using namespace mayfly::bench;

namespace {

constexpr uid_t kOrdinary = 65534;

class Folder {
 public:
  Folder() { ::chmod(own_.path().c_str(), 0755); }
  void write(const std::string& name, const std::string& text, mode_t mode = 0644) const {
    const std::filesystem::path path = own_.path() + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
  }
  [[nodiscard]] const std::string& path() const { return own_.path(); }

 private:
  test::TemporaryDirectory own_;
};

Bench start_bench(const BenchOptions& options) {
  auto started = Bench::start(options);
  if (!started) FAIL(started.error().text());
  return std::move(*started);
}

Bench with_seed(const Folder& seed) {
  BenchOptions options;
  options.seed = seed.path();
  return start_bench(options);
}

Bench with_data(const Folder& data, const std::string& weaken = {}) {
  BenchOptions options;
  options.data = data.path();
  if (!weaken.empty()) {
    options.program = "mayfly-builder-faulty";
    options.arguments = {"weaken:" + weaken};
  }
  return start_bench(options);
}

// Mounted for a test.
class Mounted {
 public:
  Mounted(std::string path, const char* type, unsigned long flags, const std::string& options)
      : path_(std::move(path)) {
    std::filesystem::create_directories(path_);
    REQUIRE(::mount("none", path_.c_str(), type, flags, options.c_str()) == 0);
  }
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;
  ~Mounted() { ::umount2(path_.c_str(), MNT_DETACH); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// What a process of the host puts into a folder: a socket that it listens at, a FIFO with "leak" in it, a locked file.
class WaysOut {
 public:
  explicit WaysOut(const Folder& folder) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, (folder.path() + "/socket").c_str());
    const auto* any = reinterpret_cast<const sockaddr*>(&address);
    REQUIRE(::bind(socket_.get(), any, sizeof address) == 0);
    REQUIRE(::listen(socket_.get(), 8) == 0);
    REQUIRE(::chmod(address.sun_path, 0777) == 0);
    const std::string fifo = folder.path() + "/fifo";
    REQUIRE(::mkfifo(fifo.c_str(), 0666) == 0);
    REQUIRE(::chmod(fifo.c_str(), 0666) == 0);
    fifo_ = Fd(::open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    REQUIRE(::write(fifo_.get(), "leak", 4) == 4);
    folder.write("locked", "x");
    locked_ = Fd(::open((folder.path() + "/locked").c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(::flock(locked_.get(), LOCK_EX | LOCK_NB) == 0);
  }

 private:
  Fd socket_, fifo_, locked_;
};

// Tries all three, and writing into the FIFO: "connected leak EAGAIN EACCES".
constexpr const char* kReachOut = R"(
import errno, fcntl, os, socket
def tried(way):
    try: return way() or "nothing"
    except OSError as error: return errno.errorcode[error.errno]
def connect():
    socket.socket(socket.AF_UNIX).connect("/data/socket")
    return "connected"
def lock():
    fcntl.flock(os.open("/data/locked", os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)
    return "locked"
def read():
    with open(os.open("/data/fifo", os.O_RDONLY | os.O_NONBLOCK), "rb", 0) as fifo: return (fifo.read(9) or b"").decode()
def write():
    with open(os.open("/data/fifo", os.O_WRONLY | os.O_NONBLOCK), "wb", 0) as fifo: return str(fifo.write(b"out"))
print(*(tried(way) for way in (connect, read, lock, write)))
)";

Job reach_out() { return job_for({"/usr/bin/python3", "-I", "-c", kReachOut}); }

Job shell(const std::string& script) { return job_for({"/bin/sh", "-c", script}); }

std::string output(Bench& bench, const Job& job) {
  Built jail = bench.build(job);
  if (jail.failed) FAIL("step " << name(static_cast<Step>(jail.failed->step)) << " errno " << jail.failed->error);
  return bench.run(jail).out;
}

// Where building failed: "write files 28".
std::string failing(Bench& bench, const Job& job) {
  Built jail = bench.build(job);
  const auto text = [](std::uint32_t step, int error) {
    return std::string(name(static_cast<Step>(step))) + " " + std::to_string(error);
  };
  if (jail.reply.says == BuilderSays::Failed) return text(jail.reply.step, jail.reply.error);
  bench.destroy(jail);
  return jail.failed ? text(jail.failed->step, jail.failed->error) : "built";
}

std::string copy_trees_with(int error) { return std::string(name(Step::CopyTrees)) + " " + std::to_string(error); }
std::string write_files_with(int error) { return std::string(name(Step::WriteFiles)) + " " + std::to_string(error); }

}  // namespace

TEST_CASE("a seed is copied into the home directory and belongs to the program", "[root]") {
  Folder seed;
  seed.write("exercise.py", "print(1)\n");
  seed.write("part/one/run.sh", "#!/bin/sh\necho ran\n", 0755);
  seed.write("many/a", "a");
  for (int i = 0; i < 300; ++i) seed.write("many/file-with-a-longer-name-" + std::to_string(i), std::to_string(i));
  seed.write(".hidden", "h");
  std::filesystem::create_symlink("exercise.py", seed.path() + "/link");
  REQUIRE(::mkfifo((seed.path() + "/fifo").c_str(), 0644) == 0);
  seed.write("secret", "what an editor keeps for itself", 0600);
  seed.write("closed/file", "x");
  ::chmod((seed.path() + "/closed").c_str(), 0700);
  Bench bench = with_seed(seed);
  CHECK(output(bench, shell("cat exercise.py link .hidden; part/one/run.sh; ls many | wc -l; cat many/*-299; echo; "
                            "stat -c '%u %a' exercise.py part part/one/run.sh; ls fifo 2>&1 | wc -l; readlink link; "
                            "echo changed > exercise.py && cat exercise.py && rm -r part && ls")) ==
        "print(1)\nprint(1)\nhran\n301\n299\n1000 644\n1000 755\n1000 755\n1\nexercise.py\nchanged\nexercise.py\nlink\n"
        "many\n");
  // The next jail has it as it was, and so has the host.
  CHECK(output(bench, shell("cat exercise.py")) == "print(1)\n");
  seed.write("exercise.py", "print(2)\n");
  CHECK(output(bench, shell("cat exercise.py")) == "print(2)\n");
}

TEST_CASE("the readonly folder cannot be written to, and of the seed nothing is left but the copy", "[P05][root]") {
  Folder seed, data;
  seed.write("own", "s");
  data.write("table", "d");
  BenchOptions options;
  options.seed = seed.path();
  options.data = data.path();
  Bench bench = start_bench(options);
  CHECK(output(bench,
               shell("cat /data/table own; touch /data/x; echo > /data/table; rm -f /data/table; "
                     "chmod 777 /data/table; ls /data; ls -d /seed; "
                     "grep -cE ' /data ro,nosuid,nodev' /proc/self/mountinfo; grep -c /seed /proc/self/mountinfo")) ==
        "dstable\n1\n0\n");
  CHECK(read_text(data.path() + "/table") == "d");
}

TEST_CASE("a socket or a FIFO that is put into the readonly folder later leads nowhere", "[P05][P12][root]") {
  Folder data;
  data.write("first", "x");
  Bench bench = with_data(data), open = with_data(data, "overlay"), unlocked = with_data(data, "landlock");
  const WaysOut ways(data);
  // What a mount of the folder itself would let through; Landlock alone holds back the writing, where there is one.
  CHECK_THAT(output(open, reach_out()), Catch::StartsWith("connected leak EAGAIN "));
  CHECK_THAT(output(bench, reach_out()), Catch::StartsWith("ECONNREFUSED nothing locked "));
  CHECK(output(unlocked, reach_out()) == "ECONNREFUSED nothing locked ENXIO\n");
}

TEST_CASE("what is put into the readonly folder, or taken from it, is so for the next jail", "[root]") {
  Folder data;
  data.write("part/text", "one");
  data.write("part/run.sh", "#!/bin/sh\necho ran\n", 0755);
  Bench bench = with_data(data);
  const Job job = shell("cat /data/part/text /data/part/late 2>&1; /data/part/run.sh");
  CHECK(output(bench, job) == "onecat: /data/part/late: No such file or directory\nran\n");
  data.write("part/late", "late");
  data.write("text.new", "two");  // as an editor writes
  std::filesystem::rename(data.path() + "/text.new", data.path() + "/part/text");
  CHECK(output(bench, job) == "twolateran\n");
  std::filesystem::remove(data.path() + "/part/late");
  CHECK(output(bench, job) == "twocat: /data/part/late: No such file or directory\nran\n");
}

TEST_CASE("the host's path of the readonly folder is not shown", "[P12][root]") {
  Folder data;
  data.write("file", "x");
  Bench bench = with_data(data);
  const std::string script = "grep -o ' / /data .* - overlay' /proc/self/mountinfo; grep -c ";
  CHECK(output(bench, shell(script + data.path() + " /proc/self/mountinfo")) ==
        " / /data ro,nosuid,nodev,relatime - overlay\n0\n");
}

TEST_CASE("a folder from which nothing may be executed stays so", "[root]") {
  Folder top;
  const Mounted closed(top.path() + "/closed", "tmpfs", MS_NOEXEC, "mode=0755");
  top.write("closed/run.sh", "#!/bin/sh\necho ran\n", 0755);
  BenchOptions options;
  options.data = closed.path();
  Bench bench = start_bench(options);
  CHECK(output(bench, shell("/data/run.sh 2>/dev/null; echo $?")) == "126\n");
}

TEST_CASE("a folder that has been removed is not shown as an empty one", "[P10][root]") {
  Folder data, seed;
  data.write("folder/file", "x");
  seed.write("folder/file", "x");
  BenchOptions options;
  options.data = data.path() + "/folder";
  Bench one = start_bench(options);
  options.data.clear();
  options.seed = seed.path() + "/folder";
  Bench other = start_bench(options);
  for (Bench* bench : {&one, &other}) CHECK(failing(*bench, shell("true")) == "built");
  std::filesystem::remove_all(data.path() + "/folder");
  std::filesystem::remove_all(seed.path() + "/folder");
  CHECK(failing(one, shell("true")) == copy_trees_with(ENOENT));
  CHECK(failing(other, shell("true")) == std::string(name(Step::PlaceTrees)) + " " + std::to_string(ENOENT));
}

TEST_CASE("a folder that cannot be shown through an overlay is shown to no jail", "[P10][root]") {
  Folder top;
  top.write("a/file", "x");
  std::filesystem::create_directories(top.path() + "/b");
  const auto over = [&](const std::string& lower) { return "lowerdir=" + lower + ":" + top.path() + "/b"; };
  const Mounted once(top.path() + "/once", "overlay", MS_RDONLY, over(top.path() + "/a"));
  const Mounted twice(top.path() + "/twice", "overlay", MS_RDONLY, over(once.path()));
  BenchOptions options;
  options.data = once.path();  // as where the host's root is one
  Bench one = start_bench(options);
  CHECK(output(one, shell("cat /data/file")) == "x");
  options.data = twice.path();  // the kernel's FILESYSTEM_MAX_STACK_DEPTH
  Bench two = start_bench(options);
  CHECK(failing(two, shell("true")) == copy_trees_with(EINVAL));
  options.data.clear();
  options.seed = twice.path();  // is copied, and gone before the program begins
  Bench seed = start_bench(options);
  CHECK(output(seed, shell("cat file")) == "x");
}

TEST_CASE("a file of the request takes the place of one of the seed", "[root]") {
  Folder seed;
  seed.write("main.py", "old");
  seed.write("folder/deep", "old");
  Bench bench = with_seed(seed);
  Job job = shell("cat main.py folder/deep; stat -c %a main.py");
  add_file(job, "main.py", "new", true);
  add_file(job, "folder/deep", "newer", false);
  CHECK(output(bench, job) == "newnewer755\n");
}

TEST_CASE("a file of the request that cannot take the place of what the seed has is named", "[P10][root]") {
  Folder seed;
  seed.write("folder/file", "x");
  seed.write("file", "x");
  std::filesystem::create_symlink("/etc", seed.path() + "/link");
  Bench bench = with_seed(seed);
  for (const auto& [name, error] : {std::pair("folder", EISDIR), {"file/below", ENOTDIR}, {"link/passwd", EROFS}}) {
    INFO(name);
    Job job = shell("true");
    add_file(job, "first", "x", false);
    add_file(job, name, "x", false);
    const Built jail = bench.build(job);
    REQUIRE(jail.failed);
    CHECK(jail.failed->step == static_cast<std::uint32_t>(Step::WriteFiles));
    CHECK(jail.failed->error == error);
    CHECK(jail.failed->file == 2);
  }
}

TEST_CASE("a seed that does not fit, or is too deep, means no jail", "[P10][root]") {
  Folder seed;
  seed.write("big", std::string(3 << 20, 'x'));
  Bench bench = with_seed(seed);
  Job job = shell("true");
  job.plan.disk_bytes = 1 << 20;
  CHECK(failing(bench, job) == write_files_with(ENOSPC));
  job.plan.disk_bytes = 64 << 20;
  CHECK(failing(bench, job) == "built");
  seed.write("1/2/3/4/5/6/7/file", "seven below the seed");
  CHECK(failing(bench, job) == "built");
  seed.write("1/2/3/4/5/6/7/8/file", "eight");
  CHECK(failing(bench, job) == write_files_with(ELOOP));
}

TEST_CASE("a folder that has become a symlink is not followed", "[root]") {
  Folder seed;
  seed.write("real/file", "x");
  std::filesystem::create_symlink(seed.path() + "/real", seed.path() + "/link");
  for (const auto member : {&BenchOptions::seed, &BenchOptions::data}) {
    BenchOptions options;
    options.*member = seed.path() + "/link";
    Bench bench = start_bench(options);
    CHECK(failing(bench, shell("true")) == copy_trees_with(ELOOP));
    options.*member = seed.path() + "/real";
    Bench other = start_bench(options);
    CHECK(failing(other, shell("true")) == "built");
  }
}

TEST_CASE("what is mounted below a folder stays away", "[root]") {
  Folder data;
  data.write("own", "x");
  std::filesystem::create_directory(data.path() + "/below");
  REQUIRE(::mount("tmpfs", (data.path() + "/below").c_str(), "tmpfs", 0, nullptr) == 0);
  std::ofstream(data.path() + "/below/mounted") << "y";
  BenchOptions options;
  options.data = data.path();
  {
    Bench bench = start_bench(options);
    CHECK(output(bench, shell("ls /data; ls /data/below")) == "below\nown\n");
  }
  REQUIRE(::umount2((data.path() + "/below").c_str(), MNT_DETACH) == 0);
}

TEST_CASE("an ordinary user's jails get their folders too", "[P21][root]") {
  Folder seed;
  seed.write("file", "x");
  BenchOptions options;
  options.rootless = true;
  options.uid = kOrdinary;
  options.seed = options.data = seed.path();
  auto bench = Bench::start(options);
  if (!bench) {
    WARN("not provable on this host: " << bench.error().text());
    return;
  }
  CHECK(output(*bench, shell("cat file /data/file; echo y > file; cat file")) == "xxy\n");
  const WaysOut ways(seed);
  CHECK_THAT(output(*bench, reach_out()), Catch::StartsWith("ECONNREFUSED nothing locked "));
}
