#include "tests/hostile/arena.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "jail/os/clock.h"

namespace mayfly::test {
namespace {

constexpr Milliseconds kCanaryPace{100};
// Generous, because the machines of tests are busy with other tests too; a starved canary takes many times as long.
constexpr Microseconds kCanaryBound = std::chrono::seconds(3);
// Without a CPU group a jail competes as any process of its user does (reported "cpu":"unlimited"), with these tests
// too.
constexpr Microseconds kUnsharedCanaryBound = std::chrono::seconds(30);
constexpr Microseconds kAttackBound = std::chrono::seconds(90);
constexpr Microseconds kReleaseBound = std::chrono::seconds(8);

std::string own_directory() {
  char path[4096];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  std::string program(path, length > 0 ? static_cast<std::size_t>(length) : 0);
  return program.substr(0, program.rfind('/'));
}

std::string directory_of_programs() {
  if (const char* told = std::getenv("MAYFLY_BIN"); told != nullptr) return told;
  return own_directory() + "/..";
}

// The rootless variant: root becomes nobody for good, with a directory of its own for what an engine keeps.
Expected<void> become_nobody() {
  constexpr uid_t kNobody = 65534;
  char directory[] = "/tmp/mayfly-rootless-XXXXXX";
  if (::mkdtemp(directory) == nullptr || ::chown(directory, kNobody, kNobody) != 0) {
    return failure("make directory of an ordinary user", errno);
  }
  for (const char* name : {"HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "MAYFLY_TEST_RUNTIME"})
    ::setenv(name, directory, 1);
  if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
      ::setresuid(kNobody, kNobody, kNobody) != 0) {
    return failure("become an ordinary user", errno);
  }
  if (::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) return failure("own our entries of /proc again", errno);
  return {};
}

std::string whole_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Expected<std::unique_ptr<Arena>> Arena::open() {
  ::signal(SIGPIPE, SIG_IGN);
  if (std::getenv("MAYFLY_TEST_AS_USER") != nullptr && ::geteuid() == 0) TRY(become_nobody());
  EngineOptions options;
  options.programs = directory_of_programs();
  if (const char* told = std::getenv("MAYFLY_TEST_RUNTIME"); told != nullptr) options.runtime_directory = told;
  std::unique_ptr<Arena> arena(new Arena(TRY(PrivateEngine::start(options))));
  if (std::getenv("MAYFLY_TEST_AS_USER") != nullptr) arena->directory_.path = options.runtime_directory;
  arena->program_path_ = own_directory() + "/hostile";
  arena->program_ = whole_file(arena->program_path_);
  if (arena->program_.empty()) return failure("read hostile program", ENOENT, arena->program_path_);
  TRY(arena->begin());
  return arena;
}

Arena::OwnDirectory::~OwnDirectory() {
  std::error_code left;  // a directory that stays is an untidy /tmp, no failure of the engine's
  if (!path.empty()) std::filesystem::remove_all(path, left);
}

OutsideRun Arena::control(const std::vector<std::string>& arguments) const {
  OutsideRun run = run_control(program_path_, arguments);
  INFO(arguments.front() << " outside: status " << run.status);
  CHECK(run.trouble == "");
  return run;
}

Arena::~Arena() {
  if (host_canary_ > 0) {
    ::kill(host_canary_, SIGKILL);
    ::waitpid(host_canary_, nullptr, 0);
  }
}

Expected<void> Arena::start_host_canary() {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC | O_NONBLOCK) != 0) return failure("make pipes", errno);
  host_canary_ = ::fork();
  if (host_canary_ == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::fcntl(1, F_SETFL, 0);
    ::execl(program_path_.c_str(), "hostile", "canary", nullptr);
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  host_in_ = Fd(in[1]);
  host_out_ = Fd(out[0]);
  return {};
}

Expected<void> Arena::begin() {
  TRY(start_host_canary());
  Attack canary{.program = "canary"};
  canary.limits.wall_ms = 3'600'000;
  canary_ = TRY(runs_.open(canary, program_));
  const Microseconds end = monotonic_now() + kAttackBound;
  while (!runs_.run(canary_).running && runs_.run(canary_).trouble.empty() && monotonic_now() < end) {
    TRY(runs_.turn(kCanaryPace));
    if (runs_.run(canary_).over()) break;
  }
  if (!runs_.run(canary_).running) return failure("start canary jail", 0, "", runs_.run(canary_).trouble);
  return {};
}

bool Arena::has_cgroups() const { return BaseLine::of(engine_).cgroups > 0; }

void Arena::ask_canaries() {
  if (!jail_answered_ || !host_answered_ || monotonic_now() - asked_ < kCanaryPace) return;
  asked_ = monotonic_now();
  const char byte = 'c';
  jail_answered_ = ::write(runs_.run(canary_).own.in.get(), &byte, 1) != 1;
  host_answered_ = ::write(host_in_.get(), &byte, 1) != 1;
}

void Arena::hear_canaries() {
  const Microseconds waited = monotonic_now() - asked_;
  char bytes[64];
  if (!host_answered_) {
    if (::read(host_out_.get(), bytes, sizeof bytes) > 0) host_answered_ = true;
    slowest_host_ = std::max(slowest_host_, waited);
  }
  if (!jail_answered_) {
    const std::size_t heard = runs_.run(canary_).out.size();
    if (heard > canary_heard_) jail_answered_ = true;
    canary_heard_ = heard;
    slowest_jail_ = std::max(slowest_jail_, waited);
  }
}

void Arena::watch(std::vector<RunNumber> numbers, const std::function<void(EngineRuns&, RunNumber)>& meddle) {
  const Microseconds end = monotonic_now() + kAttackBound;
  slowest_jail_ = slowest_host_ = Microseconds{0};
  for (;;) {
    ask_canaries();
    if (auto turned = runs_.turn(Milliseconds{20}); !turned) FAIL_CHECK(turned.error().text());
    hear_canaries();
    bool over = true;
    for (const RunNumber number : numbers) {
      if (meddle) meddle(runs_, number);
      over = over && runs_.run(number).over();
    }
    if (over && jail_answered_ && host_answered_) break;
    if (monotonic_now() > end) {
      FAIL_CHECK("the attack, or a canary, took longer than 90 s");
      break;
    }
  }
  INFO("slowest answers: jail " << slowest_jail_.count() << " us, host " << slowest_host_.count() << " us");
  const Microseconds bound = has_cgroups() ? kCanaryBound : kUnsharedCanaryBound;
  CHECK(slowest_jail_ < bound);
  CHECK(slowest_host_ < bound);
  CHECK_FALSE(runs_.run(canary_).over());
}

void Arena::check_base_line(const BaseLine& before) {
  const Microseconds end = monotonic_now() + kReleaseBound;
  std::string growth = BaseLine::of(engine_).growth_since(before);
  while (!growth.empty() && monotonic_now() < end) {
    if (auto turned = runs_.turn(Milliseconds{50}); !turned) FAIL_CHECK(turned.error().text());
    growth = BaseLine::of(engine_).growth_since(before);
  }
  CHECK(growth == "");
}

Outcome Arena::outcome_of(RunNumber number) {
  EngineRuns::Run& run = runs_.run(number);
  Outcome outcome;
  outcome.out = std::move(run.out);
  outcome.err = std::move(run.err);
  outcome.trouble = run.trouble;
  if (run.result) outcome.result = std::move(*run.result);
  outcome.lines = Lines(outcome.out);
  runs_.drop(number);
  return outcome;
}

std::vector<Outcome> Arena::attack_all(const std::vector<Attack>& attacks) {
  const BaseLine before = BaseLine::of(engine_);
  std::vector<RunNumber> numbers;
  for (const Attack& attack : attacks) {
    auto opened = runs_.open(attack, program_);
    if (!opened) FAIL(opened.error().text());
    numbers.push_back(*opened);
  }
  watch(numbers, nullptr);
  std::vector<Outcome> outcomes;
  for (const RunNumber number : numbers) outcomes.push_back(outcome_of(number));
  check_base_line(before);
  return outcomes;
}

Outcome Arena::attack_while(const Attack& attack, const std::function<void(EngineRuns&, RunNumber)>& meddle) {
  const BaseLine before = BaseLine::of(engine_);
  auto opened = runs_.open(attack, program_);
  if (!opened) FAIL(opened.error().text());
  watch({*opened}, meddle);
  Outcome outcome = outcome_of(*opened);
  if (!outcome.trouble.empty()) FAIL_CHECK(outcome.trouble);
  check_base_line(before);
  return outcome;
}

Outcome Arena::attack(const Attack& attack) { return attack_while(attack, nullptr); }

Arena& arena() {
  static std::unique_ptr<Arena> one = [] {
    auto opened = Arena::open();
    if (!opened) FAIL("no engine: " << opened.error().text());
    return std::move(*opened);
  }();
  return *one;
}

}  // namespace mayfly::test
