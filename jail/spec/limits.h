// Limits of a jail, their defaults and ceilings, and every other constant of the engine with its reason.
// The one place for numbers (house style 11). Sources: design section 5, table "Limits".
#pragma once

#include <cstdint>
#include <optional>

#include "jail/spec/units.h"

namespace mayfly {

// What is enforced on one jail. Every number is final; none means "unlimited" except where said.
struct Limits {
  Milliseconds wall{};
  Milliseconds idle{};  // 0: no idle limit (everything but SSH shells)
  Milliseconds cpu_time{};
  Bytes memory;
  std::uint32_t processes = 0;  // counts threads and our init
  MilliCpus cpus;
  Bytes disk;  // part of memory
  std::uint32_t inodes = 0;
  std::uint32_t open_files = 0;  // RLIMIT_NOFILE, per process
  Bytes output_kept;             // per stream; 0: streamed, nothing is cut before the ceiling
  Bytes output_ceiling;          // both streams together; over it the jail ends output-limit
  friend bool operator==(const Limits&, const Limits&) = default;
};

// Which column of the table applies.
enum class Door : std::uint8_t { Api, Exec, Shell, Run };

struct LimitRange {
  Limits defaults;
  Limits ceilings;
};

// What a peer asked for; an absent member takes the default. Over the ceiling is refused, never clamped. Signed, so
// that a negative number reaches the one who knows the range and can name it.
struct LimitRequest {
  std::optional<std::int64_t> wall_ms, cpu_ms, memory_bytes, processes, disk_bytes, open_files, output_bytes;
  std::optional<double> cpus;
  bool operator==(const LimitRequest&) const = default;
};

using namespace literals;

inline constexpr std::uint32_t kInodes = 8192;
inline constexpr Bytes kOutputTail = 8_kib;

inline constexpr LimitRange kApiLimits = {
    {10_s, 0_s, 10_s, 256_mib, 64, {1000}, 64_mib, kInodes, 256, 1_mib, 256_mib},
    {60_s, 0_s, 60_s, 1_gib, 256, {2000}, 512_mib, kInodes, 1024, 8_mib, 256_mib}};
inline constexpr LimitRange kExecLimits = {
    {60_s, 0_s, 60_s, 256_mib, 64, {1000}, 64_mib, kInodes, 256, 0_bytes, 4_gib},
    {600_s, 0_s, 60_s, 256_mib, 64, {1000}, 64_mib, kInodes, 256, 0_bytes, 4_gib}};
inline constexpr LimitRange kShellLimits = {
    {60_min, 15_min, 10_min, 256_mib, 128, {1000}, 64_mib, kInodes, 256, 0_bytes, 4_gib},
    {60_min, 15_min, 10_min, 256_mib, 128, {1000}, 64_mib, kInodes, 256, 0_bytes, 4_gib}};

// Floors: below these no program starts, and the message would be a riddle.
inline constexpr std::uint64_t kMinWallMs = 10;
inline constexpr Bytes kMinMemory = 8_mib;
inline constexpr std::uint32_t kMinProcesses = 2;  // our init and the program
inline constexpr std::uint32_t kMinOpenFiles = 8;
inline constexpr std::uint64_t kMinOutput = 1;  // 0 means "streamed" on the wire
inline constexpr MilliCpus kMinCpus{50};
inline constexpr Bytes kMinDisk = 64_kib;

inline constexpr Bytes kMaxCode = 1_mib;
inline constexpr Bytes kMaxStdin = 4_mib;
inline constexpr Bytes kMaxFiles = 4_mib;  // in all
inline constexpr std::uint32_t kMaxFileCount = 64;
inline constexpr std::uint32_t kMaxFileLevels = 4;  // "a/b/c/d" is allowed
inline constexpr Bytes kMaxCommand = 128_kib;       // MAX_ARG_STRLEN, execve(2)
inline constexpr std::uint32_t kMaxArguments = 256;

inline constexpr Milliseconds kWallBackup = 2_s;     // relay and pid 1 end the jail this long after the limit
inline constexpr Milliseconds kDrainLimit = 1_s;     // the relay reads what is left for this long, no more
inline constexpr Milliseconds kDeliverStall = 60_s;  // a reader that takes no byte for this long is cut
inline constexpr Milliseconds kReleaseLimit = 5_s;   // later counts as a leak
inline constexpr Milliseconds kStopLimit = 8_s;      // SIGTERM to empty; design says 10 s in all
inline constexpr Milliseconds kBuildLimit = 10_s;    // a jail that is not at its gate by then has failed

inline constexpr Bytes kMaxFrame = 64_kib;
inline constexpr std::uint32_t kMaxFrameFds = 8;
inline constexpr std::uint32_t kMaxFrameDepth = 8;
inline constexpr std::uint32_t kMaxRunsPerPeer = 256;  // live runs on one lease connection

// Host uids of a jail (root only), design section 5. Front ends sit just below the block.
inline constexpr std::uint32_t kUidBase = 1'900'000'000;
inline constexpr std::uint32_t kUidsPerSlot = 4;  // namespace owner, init, run, relay
inline constexpr std::uint32_t kSlotsPerInstance = 4096;
inline constexpr std::uint32_t kSshdUid = kUidBase - 1;
inline constexpr std::uint32_t kApiUid = kUidBase - 2;
inline constexpr std::uint32_t kInsideInitUid = 999;  // no uid 0 exists inside at all
inline constexpr std::uint32_t kInsideRunUid = 1000;

// Made ahead, at most. A network namespace with its root is four descriptors of the builder's, which every clone copies
// and every pid 1 closes: with 64 of them that was 60 us of each jail, and bursts gain no throughput from more.
inline constexpr std::uint32_t kPartsAhead = 8;
inline constexpr std::uint32_t kGroupsAhead = 64;
// Refilling costs a millisecond of processor time: at once, the next jail pays for it; while a short program runs, that
// program does (Python ran 8 % longer).
inline constexpr Milliseconds kIdleBeforeRefill = 25_ms;

inline constexpr Bytes kRelayBuffer = 64_kib;   // per stream: a reader that is slower holds the program up from here on
inline constexpr Bytes kRelayReserve = 96_kib;  // beyond it, at the end: one whole pipe (64 KiB) and the reason line
inline constexpr Milliseconds kTerminalEndRepeat =
    1_s;  // input that has ended stays ended: end-of-file again and again

inline constexpr std::uint32_t kQueueTotal = 256;
inline constexpr std::uint32_t kQueuePerPrincipal = 64;
inline constexpr std::uint32_t kLivePerPrincipal = 16;
inline constexpr std::uint32_t kRequestsPerSecond = 20;
inline constexpr std::uint32_t kRequestBurst = 100;
inline constexpr std::uint32_t kCpuSecondsPerHour = 3600;
inline constexpr Milliseconds kQueueWait = 10_s;
inline constexpr std::uint64_t kMaxQueueMs = 600'000;
inline constexpr Milliseconds kExecQueueWait = 30_s;
inline constexpr std::uint32_t kApiRunsPerProcessor = 4;

}  // namespace mayfly
