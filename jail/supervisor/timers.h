// How long the supervisor waits for what, beside the limits of a jail itself (jail/spec/limits.h).
#pragma once

#include "jail/spec/limits.h"

namespace mayfly {

inline constexpr Milliseconds kNewsDelay = 1_ms;         // of Running and Opened, after the gate
inline constexpr Milliseconds kApiNewsDelay = 24_ms;     // of an API run, where nobody waits for them
inline constexpr Milliseconds kFinishDelay = 1_ms;       // of the relay's end, after the result
inline constexpr Milliseconds kCpuCheckRetry = 1000_ms;  // after a read that failed
inline constexpr Milliseconds kCpuCheckLeast = 20_ms;    // a check costs a read; finer would not be noticed
inline constexpr Milliseconds kDrainedGrace = 500_ms;    // on top of kDrainLimit, for a relay that is not scheduled
inline constexpr Milliseconds kOwnEndLimit = 50_ms;      // pid 1 ends by itself; killed when it has not by then
inline constexpr Milliseconds kRelayExitLimit = 1_s;     // a relay that has let go of its line must end by then
inline constexpr Milliseconds kDeathLimit = 5_s;         // a process in D state holds its jail; others go on
inline constexpr Milliseconds kSilenceLimit = 1_s;       // inside closed its gate: its pidfd must tell by then
inline constexpr Milliseconds kGroupRemovalLimit = 1_s;  // rmdir answers EBUSY while the last task is being freed
inline constexpr Milliseconds kOomSecondLook = 3_ms;     // v1 announces an OOM just before the kill
inline constexpr std::uint32_t kOomLooks = 3;
inline constexpr Milliseconds kPositionNews = 250_ms;  // places in the queue are told this often at most
inline constexpr Milliseconds kFastStop = 1500_ms;     // the keeper is gone: nobody is left to deliver to
inline constexpr std::uint32_t kGroupsPerIdle = 4;     // groups made ahead in one quiet moment

inline constexpr Bytes kMaxWaitingPayload = 256_mib;      // code and files of all who wait in the queue
inline constexpr Bytes kMaxWaitingOfPrincipal = 128_mib;  // of one of them

inline constexpr std::size_t kMaxOutbox = 8u << 20;   // unread frames kept for one peer, in bytes; then it is cut
inline constexpr std::size_t kMaxOrders = 64u << 20;  // plans that wait for a slow builder: 4096 of at most 16 KiB
inline constexpr int kFramesPerTurn = 16;             // of one peer, before others have their turn

}  // namespace mayfly
