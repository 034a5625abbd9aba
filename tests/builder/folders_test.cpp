// The folders of a profile: `readonly` at /data, `seed` copied into the home directory.
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
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
}
