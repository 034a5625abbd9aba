// Ending: why a jail ended (design section 4). Values cross the wire and are written to records: append only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mayfly {

enum class Ending : std::uint8_t {
  Exited,        // the main program ended by itself
  Signalled,     // it died of a signal of its own
  TimeLimit,     // wall clock
  IdleLimit,     // no byte from the peer
  CpuLimit,      // CPU seconds of the whole jail
  MemoryLimit,   // the kernel's OOM killer struck in its cgroup
  OutputLimit,   // more output in all than the hard ceiling
  Cancelled,     // by the peer
  Disconnected,  // the peer is gone
  Killed,        // by an operator
  Shutdown,      // the service stops
  Refused,       // never started: queue full, quota, a required control is absent
  Failed,        // could not be built, or broken by our own failure
  Lost,          // the service died while it ran (written at the next start)
};

inline constexpr Ending kAllEndings[] = {
    Ending::Exited,      Ending::Signalled,   Ending::TimeLimit, Ending::IdleLimit,    Ending::CpuLimit,
    Ending::MemoryLimit, Ending::OutputLimit, Ending::Cancelled, Ending::Disconnected, Ending::Killed,
    Ending::Shutdown,    Ending::Refused,     Ending::Failed,    Ending::Lost};

std::string_view name(Ending ending);  // "time-limit": the word in records, JSON and the reason line
std::optional<Ending> ending_named(std::string_view word);
[[nodiscard]] bool is_timed_out(Ending ending);  // time-, idle- and cpu-limit

// Exit status for a front end that can only say a number (ssh exit-status, `mayfly run`): 124 time, 137 memory,
// 125 everything that is not the program's own doing. `Exited` and `Signalled` have none: the caller knows better.
std::optional<int> reserved_exit_status(Ending ending);

// What was hit besides, or without ending the jail. JSON: limitsReached.
enum class LimitReached : std::uint8_t { Processes, Memory, Disk, Inodes, Output };
std::string_view name(LimitReached limit);

// "SIGSEGV" for 11, "SIGRTMIN+3" for real-time ones; the SSH name is the same without "SIG" (RFC 4254 6.10).
std::string signal_name(int signal_number);
std::optional<int> signal_number(std::string_view name_without_sig);

}  // namespace mayfly
