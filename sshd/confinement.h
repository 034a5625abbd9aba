// What the SSH listener and a session leave themselves. A session inherits the listener's list and narrows it further,
// so the listener's allows all that a session and the start of a program need. Neither opens a network socket; a
// session runs nothing and signals nobody.
#pragma once

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <utility>

#include "jail/os/lockdown.h"
#include "jail/os/lockdown_rows.h"

namespace mayfly::confinement {

// Of the listener, beside the common groups.
inline constexpr auto kListenerRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(alarm), Verdict::Allow, kAlways, "a session inherits this list and has a use for it"},
    {MAYFLY_CALL(setitimer), Verdict::Allow, kAlways, "as alarm"},
    {MAYFLY_CALL(accept4), Verdict::Allow, kAlways, "new connections"},
    {MAYFLY_CALL(socket), Verdict::Allow, one_of(0, {AF_UNIX}), "the lease socket, once per session"},
    {MAYFLY_CALL(socket), Verdict::NoFamily, kAlways, "opens no network connection"},
    {MAYFLY_CALL(connect), Verdict::Allow, kAlways, "the lease socket, once per session"},
    {MAYFLY_CALL(bind), Verdict::Deny, kAlways, "connects outwards to nobody; its listener was given to it"},
    {MAYFLY_CALL(listen), Verdict::Allow, kAlways, "asks for a longer queue on the listener that it was given"},
    {MAYFLY_CALL(clone), Verdict::Allow,
     one_of(0, {lockdown::kSpawnFlags, lockdown::kForkFlags, lockdown::kBareForkFlags}), "one session per connection"},
    {MAYFLY_CALL(clone), Verdict::Allow, one_of(0, {lockdown::kThreadFlags}), "a thread of a library in a session"},
    {MAYFLY_CALL(clone), Verdict::Deny, kAlways, "no namespaces"},
    {MAYFLY_CALL(clone3), Verdict::Absent, kAlways, "libc falls back to clone, whose flags can be judged"},
    {MAYFLY_CALL(vfork), Verdict::Allow, kAlways, "posix_spawn and its kin"},
    {MAYFLY_CALL(fork), Verdict::Allow, kAlways, "posix_spawn and its kin"},
    {MAYFLY_CALL(execve), Verdict::Allow, kAlways,
     "runs mayfly-sshd-session; Landlock leaves no other program in reach"},
    {MAYFLY_CALL(execveat), Verdict::Deny, kAlways, "runs by path only"},
    {MAYFLY_CALL(arch_prctl), Verdict::Allow, kAlways, "a program that begins"},
    {MAYFLY_CALL(set_tid_address), Verdict::Allow, kAlways, "a program that begins"},
    {MAYFLY_CALL(wait4), Verdict::Allow, kAlways, "holds and reaps its sessions"},
    {MAYFLY_CALL(waitid), Verdict::Allow, kAlways, "holds and reaps its sessions"},
    {MAYFLY_CALL(pidfd_open), Verdict::Allow, kAlways, "holds and reaps its sessions"},
    {MAYFLY_CALL(pidfd_send_signal), Verdict::Allow, kAlways, "ends a session of its own; a pidfd names one process"},
    {MAYFLY_CALL(kill), Verdict::Allow, kAlways,
     "ends a child that it cannot hold by pidfd; Landlock keeps it to its own where the kernel has the scope"},
    {MAYFLY_CALL(tkill), Verdict::Deny, kAlways, "signals no threads and sends no data"},
    {MAYFLY_CALL(rt_sigqueueinfo), Verdict::Deny, kAlways, "signals no threads and sends no data"},
    {MAYFLY_CALL(rt_tgsigqueueinfo), Verdict::Deny, kAlways, "signals no threads and sends no data"},
    {MAYFLY_CALL(seccomp), Verdict::Allow, kAlways, "its sessions confine themselves further"},
    {MAYFLY_CALL(landlock_create_ruleset), Verdict::Allow, kAlways, "its sessions confine themselves further"},
    {MAYFLY_CALL(landlock_add_rule), Verdict::Allow, kAlways, "its sessions confine themselves further"},
    {MAYFLY_CALL(landlock_restrict_self), Verdict::Allow, kAlways, "its sessions confine themselves further"},
    {MAYFLY_CALL(setresuid), Verdict::Allow, kAlways, "sessions may drop what is left"},
    {MAYFLY_CALL(setresgid), Verdict::Allow, kAlways, "sessions may drop what is left"},
    {MAYFLY_CALL(setgroups), Verdict::Allow, kAlways, "sessions may drop what is left"},
    {MAYFLY_CALL(setuid), Verdict::Allow, kAlways, "sessions may drop what is left"},
    {MAYFLY_CALL(setgid), Verdict::Allow, kAlways, "sessions may drop what is left"},
    {MAYFLY_CALL(setreuid), Verdict::Allow, kAlways, "sessions may drop what is left"},
    {MAYFLY_CALL(setregid), Verdict::Allow, kAlways, "sessions may drop what is left"},
    {MAYFLY_CALL(capset), Verdict::Allow, kAlways, "sessions may drop what is left"},
    {MAYFLY_CALL(capget), Verdict::Allow, kAlways, "sessions may drop what is left"},
    {MAYFLY_CALL(setsid), Verdict::Allow, kAlways, "sessions may drop what is left"},
    {MAYFLY_CALL(prctl), Verdict::Allow, kAlways, "names itself; sessions confine themselves"},
    {MAYFLY_CALL(ioctl), Verdict::Deny, one_of(1, {TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS}),
     "types into a terminal or loads a line discipline"},
    {MAYFLY_CALL(ioctl), Verdict::Allow, kAlways, "asks how much waits on a socket"},
});

// Of a session, beside the common groups.
inline constexpr auto kSessionRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(alarm), Verdict::Allow, kAlways, "the kernel ends a session that overstays the login grace"},
    {MAYFLY_CALL(setitimer), Verdict::Allow, kAlways, "the kernel ends a turn that would never end"},
    {MAYFLY_CALL(accept4), Verdict::Deny, kAlways, "never needed; absent would hide a mistake"},
    {MAYFLY_CALL(socket), Verdict::NoFamily, kAlways,
     "a session has its connection and its lease, and opens no other socket"},
    {MAYFLY_CALL(connect), Verdict::Deny, kAlways, "as socket"},
    {MAYFLY_CALL(bind), Verdict::Deny, kAlways, "as socket"},
    {MAYFLY_CALL(listen), Verdict::Deny, kAlways, "as socket"},
    {MAYFLY_CALL(pidfd_open), Verdict::Allow, kAlways, "watches its listener"},
    {MAYFLY_CALL(setresuid), Verdict::Allow, kAlways, "may drop what is left"},
    {MAYFLY_CALL(setresgid), Verdict::Allow, kAlways, "may drop what is left"},
    {MAYFLY_CALL(setgroups), Verdict::Allow, kAlways, "may drop what is left"},
    {MAYFLY_CALL(setuid), Verdict::Allow, kAlways, "may drop what is left"},
    {MAYFLY_CALL(setgid), Verdict::Allow, kAlways, "may drop what is left"},
    {MAYFLY_CALL(setreuid), Verdict::Allow, kAlways, "may drop what is left"},
    {MAYFLY_CALL(setregid), Verdict::Allow, kAlways, "may drop what is left"},
    {MAYFLY_CALL(capset), Verdict::Allow, kAlways, "may drop what is left"},
    {MAYFLY_CALL(capget), Verdict::Allow, kAlways, "may drop what is left"},
    {MAYFLY_CALL(prctl), Verdict::Allow, kAlways, "names itself"},
    {MAYFLY_CALL(ioctl), Verdict::Allow, one_of(1, {TCGETS, FIONREAD, FIONBIO, TIOCOUTQ}),
     "asks how much waits on a socket"},
    {MAYFLY_CALL(ioctl), Verdict::Deny, kAlways, "nothing else"},
});

inline constexpr std::array kListenerCalls = {SyscallRows(lockdown::kRuntimeRows),
                                              SyscallRows(lockdown::kWaitingRows),
                                              SyscallRows(lockdown::kMessageRows),
                                              SyscallRows(lockdown::kRunStreamRows),
                                              SyscallRows(lockdown::kFileReadingRows),
                                              SyscallRows(lockdown::kNeverRows),
                                              SyscallRows(kListenerRows)};
inline constexpr std::array kSessionCalls = {
    SyscallRows(lockdown::kRuntimeRows),     SyscallRows(lockdown::kWaitingRows),
    SyscallRows(lockdown::kMessageRows),     SyscallRows(lockdown::kRunStreamRows),
    SyscallRows(lockdown::kFileReadingRows), SyscallRows(lockdown::kThreadRows),
    SyscallRows(lockdown::kNoProgramRows),   SyscallRows(lockdown::kNoSignalRows),
    SyscallRows(lockdown::kNeverRows),       SyscallRows(kSessionRows)};

// `reach`: the session program and the system's libraries (Execute), /etc and /proc/self (Read), and the folder of
// lease.sock (Read; connecting to a socket needs no right of Landlock's).
inline LockDown listener(std::vector<Reach> reach) {
  return {kListenerCalls, std::move(reach), Tcp::None, Signals::OwnOnly};
}
// `reach`: what libraries read late, such as /etc/ssl and /usr/share/zoneinfo (Read); may be empty.
inline LockDown session(std::vector<Reach> reach) {
  return {kSessionCalls, std::move(reach), Tcp::None, Signals::OwnOnly};
}

}  // namespace mayfly::confinement
