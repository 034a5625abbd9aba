#include "tests/hostile/control_run.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "jail/os/fd.h"

namespace mayfly::test {
namespace {

constexpr int kSetUpFailed = 120;
constexpr auto kControlLimit = std::chrono::seconds(60);

// In the child: pid 1 of its own pid namespace. Its child is the program.
[[noreturn]] void be_init(const char* path, char* const* words) {
  ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
  ::mount("proc", "/proc", "proc", 0, nullptr);
  const pid_t program = ::fork();
  if (program < 0) ::_exit(kSetUpFailed);
  if (program == 0) {
    ::setsid();
    ::execv(path, words);
    ::_exit(kSetUpFailed);
  }
  int status = 0;
  while (::waitpid(program, &status, 0) != program) {
    if (errno != EINTR) ::_exit(kSetUpFailed);
  }
  if (WIFSIGNALED(status)) ::_exit(128 + WTERMSIG(status));
  ::_exit(WEXITSTATUS(status));
}

[[noreturn]] void be_control(const char* path, char* const* words, const char* directory, int out) {
  const int flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
  const bool root = ::geteuid() == 0;
  if (::unshare(root ? flags : flags | CLONE_NEWUSER) != 0) ::_exit(kSetUpFailed);
  if (::chdir(directory) != 0 || ::dup2(out, 1) < 0) ::_exit(kSetUpFailed);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, 0);
  ::close_range(3, ~0u, 0);
  const rlimit cpu{20, 20}, memory{4ull << 30, 4ull << 30};
  ::setrlimit(RLIMIT_CPU, &cpu);
  ::setrlimit(RLIMIT_AS, &memory);
  const pid_t init = ::fork();
  if (init < 0) ::_exit(kSetUpFailed);
  if (init == 0) be_init(path, words);
  int status = 0;
  while (::waitpid(init, &status, 0) != init) {
    if (errno != EINTR) ::_exit(kSetUpFailed);
  }
  ::_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

// To the end of the pipe, or until the time is over; then the child is killed, and with it its pid namespace.
std::string collect(int from, pid_t child) {
  std::string text;
  const auto end = std::chrono::steady_clock::now() + kControlLimit;
  std::array<char, 4096> piece{};
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      // The middle process dies; its child, pid 1 of the namespace, would live on: it holds our group.
      ::kill(-child, SIGKILL);
      return text + "\ncontrol=too slow\n";
    }
    pollfd waited{from, POLLIN, 0};
    if (::poll(&waited, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t count = ::read(from, piece.data(), piece.size());
    if (count <= 0) return text;
    if (text.size() < (1u << 20)) text.append(piece.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

OutsideRun run_control(const std::string& program_path, const std::vector<std::string>& arguments) {
  OutsideRun control;
  char directory[] = "/tmp/mayfly-control-XXXXXX";
  int ends[2];
  if (::mkdtemp(directory) == nullptr || ::pipe2(ends, O_CLOEXEC) != 0) {
    control.trouble = std::strerror(errno);
    return control;
  }
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  std::vector<char*> words = {const_cast<char*>("hostile")};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    be_control(program_path.c_str(), words.data(), directory, write_end.get());
  }
  write_end.reset();
  control.lines = Lines(collect(read_end.get(), child));
  ::waitpid(child, &control.status, 0);
  // Killed for being slow, it leaves its pid 1 to us: the engine has made us the reaper of all that we started.
  while (::waitpid(-child, nullptr, 0) > 0) {
  }
  if (!WIFEXITED(control.status) || WEXITSTATUS(control.status) == kSetUpFailed)
    control.trouble = "could not be set up";
  const std::string remove = std::string("rm -rf ") + directory;
  if (std::system(remove.c_str()) != 0) control.trouble = "left files behind";
  return control;
}

}  // namespace mayfly::test
