// What the witness template and its relays leave themselves: bytes between descriptors that they were handed, a fork
// per relay, a pidfd to kill their own jail by. No file, no program, no socket of their own.
#pragma once

#include <sys/ioctl.h>

#include "jail/os/lockdown.h"
#include "jail/os/lockdown_rows.h"

namespace mayfly::confinement {

// Beside the common groups.
inline constexpr auto kWitnessRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(kill), Verdict::Deny, kAlways, "a relay signals by pidfd alone"},
    {MAYFLY_CALL(tkill), Verdict::Deny, kAlways, "a relay signals by pidfd alone"},
    {MAYFLY_CALL(rt_sigqueueinfo), Verdict::Deny, kAlways, "a relay signals by pidfd alone"},
    {MAYFLY_CALL(rt_tgsigqueueinfo), Verdict::Deny, kAlways, "a relay signals by pidfd alone"},
    {MAYFLY_CALL(pidfd_send_signal), Verdict::Allow, kAlways,
     "kills pid 1 of its own jail when the supervisor is gone or the wall limit is long over"},
    {MAYFLY_CALL(pidfd_open), Verdict::Allow, kAlways, "holds the supervisor and itself by descriptor"},
    {MAYFLY_CALL(clone), Verdict::Allow, one_of(0, {lockdown::kForkFlags, lockdown::kBareForkFlags}),
     "the template forks one relay per jail"},
    {MAYFLY_CALL(clone), Verdict::Deny, kAlways, "no threads, no namespaces"},
    {MAYFLY_CALL(clone3), Verdict::Absent, kAlways, "libc falls back to clone, whose flags can be judged"},
    {MAYFLY_CALL(fork), Verdict::Deny, kAlways, "fork of libc is clone"},
    {MAYFLY_CALL(vfork), Verdict::Deny, kAlways, "fork of libc is clone"},
    {MAYFLY_CALL(wait4), Verdict::Allow, kAlways, "reaps relays"},
    {MAYFLY_CALL(waitid), Verdict::Allow, kAlways, "reaps relays"},
    {MAYFLY_CALL(setresuid), Verdict::Allow, kAlways, "a relay takes its jail's own id and drops the rest"},
    {MAYFLY_CALL(setresgid), Verdict::Allow, kAlways, "a relay takes its jail's own id and drops the rest"},
    {MAYFLY_CALL(setgroups), Verdict::Allow, kAlways, "a relay takes its jail's own id and drops the rest"},
    {MAYFLY_CALL(setuid), Verdict::Allow, kAlways, "a relay takes its jail's own id and drops the rest"},
    {MAYFLY_CALL(setgid), Verdict::Allow, kAlways, "a relay takes its jail's own id and drops the rest"},
    {MAYFLY_CALL(setreuid), Verdict::Allow, kAlways, "a relay takes its jail's own id and drops the rest"},
    {MAYFLY_CALL(setregid), Verdict::Allow, kAlways, "a relay takes its jail's own id and drops the rest"},
    {MAYFLY_CALL(capset), Verdict::Allow, kAlways, "a relay takes its jail's own id and drops the rest"},
    {MAYFLY_CALL(capget), Verdict::Allow, kAlways, "a relay takes its jail's own id and drops the rest"},
    {MAYFLY_CALL(prctl), Verdict::Allow, kAlways,
     "names itself, drops the bounding set, stays undumpable after its change of id"},
    {MAYFLY_CALL(splice), Verdict::Allow, kAlways, "moves bytes; writes recordings that it was handed open"},
    {MAYFLY_CALL(tee), Verdict::Allow, kAlways, "moves bytes; writes recordings that it was handed open"},
    {MAYFLY_CALL(pwrite64), Verdict::Allow, kAlways, "moves bytes; writes recordings that it was handed open"},
    {MAYFLY_CALL(pread64), Verdict::Allow, kAlways, "moves bytes; writes recordings that it was handed open"},
    {MAYFLY_CALL(ftruncate), Verdict::Allow, kAlways, "moves bytes; writes recordings that it was handed open"},
    {MAYFLY_CALL(fsync), Verdict::Allow, kAlways, "moves bytes; writes recordings that it was handed open"},
    {MAYFLY_CALL(fdatasync), Verdict::Allow, kAlways, "moves bytes; writes recordings that it was handed open"},
    {MAYFLY_CALL(socketpair), Verdict::Allow, kAlways, "its own wake-up and watchers' ends"},
    {MAYFLY_CALL(pipe2), Verdict::Allow, kAlways, "its own wake-up and watchers' ends"},
    {MAYFLY_CALL(set_tid_address), Verdict::Allow, kAlways, "a child that begins"},
    {MAYFLY_CALL(setpriority), Verdict::Allow, kAlways, "a child that begins"},
    {MAYFLY_CALL(setsid), Verdict::Allow, kAlways, "a child that begins"},
    {MAYFLY_CALL(openat), Verdict::Allow, kAlways, "libc, where Landlock leaves anything to open"},
    {MAYFLY_CALL(open), Verdict::Allow, kAlways, "libc, where Landlock leaves anything to open"},
    {MAYFLY_CALL(access), Verdict::Allow, kAlways, "libc, where Landlock leaves anything to open"},
    {MAYFLY_CALL(newfstatat), Verdict::Allow, kAlways, "libc, where Landlock leaves anything to open"},
    {MAYFLY_CALL(readlink), Verdict::Allow, kAlways, "libc, where Landlock leaves anything to open"},
    {MAYFLY_CALL(readlinkat), Verdict::Allow, kAlways, "libc, where Landlock leaves anything to open"},
    {MAYFLY_CALL(statx), Verdict::Allow, kAlways, "libc, where Landlock leaves anything to open"},
    {MAYFLY_CALL(ioctl), Verdict::Deny, one_of(1, {TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS}),
     "types into a terminal or loads a line discipline"},
    {MAYFLY_CALL(ioctl), Verdict::Allow, kAlways, "size, modes and signals of the terminal that it carries"},
});

inline constexpr std::array kWitnessCalls = {SyscallRows(lockdown::kRuntimeRows), SyscallRows(lockdown::kWaitingRows),
                                             SyscallRows(lockdown::kMessageRows), SyscallRows(lockdown::kNoProgramRows),
                                             SyscallRows(lockdown::kNeverRows),   SyscallRows(kWitnessRows)};

// No file stays reachable at all. Called by the template, before its first fork; relays inherit it, and set
// PR_SET_DUMPABLE to 0 again after their change of ids (prctl(2): a change of ids resets it).
inline LockDown witness() { return {kWitnessCalls, {}, Tcp::None, Signals::Anybody}; }

}  // namespace mayfly::confinement
