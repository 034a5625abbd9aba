// How the keeper starts each process: which descriptor numbers it finds open, and what they are. The command line
// carries nothing but the program's name; everything else comes by descriptor.
// Every process also holds, under kKeeperPidfd, a pidfd of the keeper, and ends when it is readable.
#pragma once

namespace mayfly {

inline constexpr int kKeeperPidfd = 3;

// mayfly-builder
inline constexpr int kBuilderControl = 4;          // SEQPACKET with the supervisor (plan.h)
inline constexpr int kBuilderBindTable = 5;        // sealed memfd (bind_table.h)
inline constexpr int kBuilderSupervisorPidfd = 6;  // liveness, watched by every pid 1

// mayfly-witness
inline constexpr int kWitnessControl = 4;  // SEQPACKET with the supervisor (relay.h)
inline constexpr int kWitnessSupervisorPidfd = 5;
inline constexpr int kWitnessUidLock = 6;  // keeps the uid block locked as long as a relay lives; may be absent

// mayfly-supervisor
inline constexpr int kSupervisorKeeper = 4;  // SEQPACKET with the keeper (keeper.h)
inline constexpr int kSupervisorBuilder = 5;
inline constexpr int kSupervisorWitness = 6;
inline constexpr int kSupervisorConfig = 7;    // sealed memfd, JSON: wire/supervisor_config.h
inline constexpr int kSupervisorLease = 8;     // listening lease.sock, or a connected private lease (`mayfly run`)
inline constexpr int kSupervisorMonitor = 9;   // listening monitor.sock; absent for `mayfly run`
inline constexpr int kSupervisorUidLock = 10;  // may be absent (rootless)

// mayfly-sshd
inline constexpr int kSshdListener = 4;  // TCP
inline constexpr int kSshdHostKey = 5;   // sealed memfd, OpenSSH private key
inline constexpr int kSshdConfig = 6;    // sealed memfd, JSON: {"lease": path, "access": ["open"], ...}
// mayfly-sshd-session: kKeeperPidfd, and
inline constexpr int kSessionHandover = 4;  // SEQPACKET with the listener, which sends what is served (sshd/handover.h)
inline constexpr int kSessionHostKey = 5;
inline constexpr int kSessionConfig = 6;
inline constexpr int kSessionListenerPidfd = 7;  // the session ends with its listener

// mayfly-api
inline constexpr int kApiListener = 4;     // TCP
inline constexpr int kApiConfig = 5;       // sealed memfd, JSON
inline constexpr int kApiExamination = 6;  // memfd, read only here: empty, or what mayfly-examiner found

// `mayfly settings`, started by the keeper when it is to reload
inline constexpr int kSettingsOut =
    4;  // memfd: a SupervisorConfig as JSON, of which access, log level and policy count

// mayfly-examiner
inline constexpr int kExaminerConfig = 4;  // sealed memfd, JSON: {"lease": path, "probe": path}
inline constexpr int kExaminerReport = 5;  // memfd, written once

}  // namespace mayfly
