// mayfly-probe: a small static program that is sent into a jail and attacks it from inside (jail/probe/containment.h).
//
//   mayfly-probe attacks PORT ABSTRACT-NAME HOST-PID SECRET-PATH
//   mayfly-probe memory BYTES       touches that much memory
//   mayfly-probe processes COUNT    forks until it has that many children or is refused
//   mayfly-probe disk BYTES         fills a file in /tmp
//   mayfly-probe cpu SECONDS        computes for that long
//   mayfly-probe sleep SECONDS
//   mayfly-probe write-data DIRECTORY   makes a file without a name there
//
// One JSON object per line: {"attack":"network-out","held":true,"errno":"ENETUNREACH"}. Exit status 0 however the
// attacks went; 2 for a wrong command line.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "jail/probe/attack.h"

namespace mayfly::probe {
namespace {

// `answer`: "" when it worked, else the errno's or signal's name.
void tell(const char* attack, const char* answer) {
  std::printf("{\"attack\":\"%s\",\"held\":%s,\"errno\":\"%s\"}\n", attack, *answer == '\0' ? "false" : "true", answer);
  std::fflush(stdout);
}

void tell_errno(const char* attack, int error) {
  const char* name = error == 0 ? "" : ::strerrorname_np(error);
  tell(attack, name != nullptr ? name : "an errno without a name");
}

// The child answers through a pipe, because an exit status has no room for every errno.
void try_attack(const Attack& attack, const Targets& targets) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return tell(attack.name, "not tried: no pipe");
  const pid_t child = ::fork();
  if (child < 0) return tell(attack.name, "not tried: no process");
  if (child == 0) {
    ::alarm(5);
    const int error = attack.attempt(targets);
    (void)!::write(ends[1], &error, sizeof error);
    ::_exit(0);
  }
  ::close(ends[1]);
  int error = 0;
  const bool answered = ::read(ends[0], &error, sizeof error) == static_cast<ssize_t>(sizeof error);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (answered) return tell_errno(attack.name, error);
  char signal_name[16] = "SIG?";
  if (WIFSIGNALED(status) && ::sigabbrev_np(WTERMSIG(status)) != nullptr)
    std::snprintf(signal_name, sizeof signal_name, "SIG%s", ::sigabbrev_np(WTERMSIG(status)));
  tell(attack.name, signal_name);
}

void try_all(const Targets& targets) {
  for (const AttackTable& table : {network_attacks(), file_attacks(), kernel_attacks()})
    for (std::size_t i = 0; i < table.count; ++i) try_attack(table.rows[i], targets);
}

// Page by page, so that the kernel has to give every one.
void eat_memory(std::size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return tell_errno("memory", errno);
  for (std::size_t at = 0; at < bytes; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
  tell("memory", "");
}

void make_processes(int count) {
  constexpr int kMost = 4096;
  static pid_t children[kMost];
  int made = 0, error = 0;
  while (made < count && made < kMost) {
    const pid_t child = ::fork();
    if (child < 0) {
      error = errno;
      break;
    }
    if (child == 0) {
      ::alarm(20);
      ::pause();
      ::_exit(0);
    }
    children[made++] = child;
  }
  for (int i = 0; i < made; ++i) ::kill(children[i], SIGKILL);
  for (int i = 0; i < made; ++i) ::waitpid(children[i], nullptr, 0);
  tell_errno("processes", error);
}

void fill_disk(std::size_t bytes) {
  const int file = ::open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return tell_errno("disk", errno);
  ::signal(SIGXFSZ, SIG_IGN);
  static const char block[65536] = {};
  int error = 0;
  for (std::size_t done = 0; done < bytes && error == 0;) {
    const ssize_t count = ::write(file, block, sizeof block);
    if (count <= 0)
      error = errno;
    else
      done += static_cast<std::size_t>(count);
  }
  tell_errno("disk", error);
}

void compute(double seconds) {
  timespec used{};
  do {
    for (int i = 0; i < 1'000'000; ++i) __asm__ volatile("");  // not to be left out by the compiler
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  } while (static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9 < seconds);
  tell("cpu", "");
}

void sleep_for(unsigned seconds) {
  ::sleep(seconds);
  tell("sleep", "");
}

int number(const char* text) { return static_cast<int>(std::strtol(text, nullptr, 10)); }

int run(int count, char** arguments) {
  const char* mode = count > 2 ? arguments[1] : "";
  const char* value = count > 2 ? arguments[2] : "";
  if (std::strcmp(mode, "attacks") == 0 && count == 6) {
    try_all({number(arguments[2]), arguments[3], number(arguments[4]), arguments[5]});
  } else if (std::strcmp(mode, "memory") == 0) {
    eat_memory(std::strtoull(value, nullptr, 10));
  } else if (std::strcmp(mode, "processes") == 0) {
    make_processes(number(value));
  } else if (std::strcmp(mode, "disk") == 0) {
    fill_disk(std::strtoull(value, nullptr, 10));
  } else if (std::strcmp(mode, "cpu") == 0) {
    compute(std::strtod(value, nullptr));
  } else if (std::strcmp(mode, "sleep") == 0) {
    sleep_for(static_cast<unsigned>(std::strtoul(value, nullptr, 10)));
  } else if (std::strcmp(mode, "write-data") == 0) {
    const int file = ::open(value, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    tell_errno("write-data", file < 0 ? errno : 0);
  } else {
    std::fputs("mayfly-probe: start it with \"mayfly doctor\"\n", stderr);
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace mayfly::probe

int main(int count, char** arguments) { return mayfly::probe::run(count, arguments); }
