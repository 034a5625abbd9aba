#include "jail/spec/ending.h"

#include <array>
#include <charconv>
#include <csignal>

namespace mayfly {

namespace {

struct EndingRow {
  Ending ending;
  std::string_view word;
  bool timed_out;
  int exit_status;  // 0: none
};

constexpr std::array kEndings = {
    EndingRow{Ending::Exited, "exited", false, 0},
    EndingRow{Ending::Signalled, "signalled", false, 0},
    EndingRow{Ending::TimeLimit, "time-limit", true, 124},
    EndingRow{Ending::IdleLimit, "idle-limit", true, 124},
    EndingRow{Ending::CpuLimit, "cpu-limit", true, 124},
    EndingRow{Ending::MemoryLimit, "memory-limit", false, 137},
    EndingRow{Ending::OutputLimit, "output-limit", false, 125},
    EndingRow{Ending::Cancelled, "cancelled", false, 125},
    EndingRow{Ending::Disconnected, "disconnected", false, 125},
    EndingRow{Ending::Killed, "killed", false, 125},
    EndingRow{Ending::Shutdown, "shutdown", false, 125},
    EndingRow{Ending::Refused, "refused", false, 125},
    EndingRow{Ending::Failed, "failed", false, 125},
    EndingRow{Ending::Lost, "lost", false, 125},
};

const EndingRow& row(Ending ending) {
  for (const EndingRow& candidate : kEndings)
    if (candidate.ending == ending) return candidate;
  return kEndings[12];  // Failed: an unknown value is our own fault
}

struct SignalRow {
  int number;
  std::string_view word;
};

constexpr std::array kSignals = {
    SignalRow{SIGHUP, "HUP"},       SignalRow{SIGINT, "INT"},       SignalRow{SIGQUIT, "QUIT"},
    SignalRow{SIGILL, "ILL"},       SignalRow{SIGTRAP, "TRAP"},     SignalRow{SIGABRT, "ABRT"},
    SignalRow{SIGBUS, "BUS"},       SignalRow{SIGFPE, "FPE"},       SignalRow{SIGKILL, "KILL"},
    SignalRow{SIGUSR1, "USR1"},     SignalRow{SIGSEGV, "SEGV"},     SignalRow{SIGUSR2, "USR2"},
    SignalRow{SIGPIPE, "PIPE"},     SignalRow{SIGALRM, "ALRM"},     SignalRow{SIGTERM, "TERM"},
    SignalRow{SIGSTKFLT, "STKFLT"}, SignalRow{SIGCHLD, "CHLD"},     SignalRow{SIGCONT, "CONT"},
    SignalRow{SIGSTOP, "STOP"},     SignalRow{SIGTSTP, "TSTP"},     SignalRow{SIGTTIN, "TTIN"},
    SignalRow{SIGTTOU, "TTOU"},     SignalRow{SIGURG, "URG"},       SignalRow{SIGXCPU, "XCPU"},
    SignalRow{SIGXFSZ, "XFSZ"},     SignalRow{SIGVTALRM, "VTALRM"}, SignalRow{SIGPROF, "PROF"},
    SignalRow{SIGWINCH, "WINCH"},   SignalRow{SIGIO, "IO"},         SignalRow{SIGPWR, "PWR"},
    SignalRow{SIGSYS, "SYS"},
};

constexpr int kRealTimeFirst = 34;  // SIGRTMIN as glibc gives it; 32 and 33 are its own
constexpr int kRealTimeLast = 64;

}  // namespace

std::string_view name(Ending ending) { return row(ending).word; }

std::optional<Ending> ending_named(std::string_view word) {
  for (const EndingRow& candidate : kEndings)
    if (candidate.word == word) return candidate.ending;
  return std::nullopt;
}

bool is_timed_out(Ending ending) { return row(ending).timed_out; }

std::optional<int> reserved_exit_status(Ending ending) {
  const int status = row(ending).exit_status;
  return status == 0 ? std::nullopt : std::optional<int>(status);
}

std::string_view name(LimitReached limit) {
  static constexpr std::array<std::string_view, 5> kNames = {"processes", "memory", "disk", "inodes", "output"};
  return kNames[static_cast<std::size_t>(limit) % kNames.size()];
}

std::string signal_name(int signal_number) {
  for (const SignalRow& candidate : kSignals)
    if (candidate.number == signal_number) return "SIG" + std::string(candidate.word);
  if (signal_number == kRealTimeFirst) return "SIGRTMIN";
  if (signal_number > kRealTimeFirst && signal_number <= kRealTimeLast)
    return "SIGRTMIN+" + std::to_string(signal_number - kRealTimeFirst);
  return "SIG" + std::to_string(signal_number);
}

std::optional<int> signal_number(std::string_view name_without_sig) {
  for (const SignalRow& candidate : kSignals)
    if (candidate.word == name_without_sig) return candidate.number;
  if (name_without_sig == "RTMIN") return kRealTimeFirst;
  if (name_without_sig.starts_with("RTMIN+")) {
    int offset = 0;
    const auto digits = name_without_sig.substr(6);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), offset);
    if (error == std::errc() && end == digits.data() + digits.size() && offset >= 0 &&
        kRealTimeFirst + offset <= kRealTimeLast)
      return kRealTimeFirst + offset;
  }
  return std::nullopt;
}

}  // namespace mayfly
