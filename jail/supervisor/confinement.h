// What the supervisor leaves itself: control groups, its state directory, pidfds of jails, sockets that it was given.
// It runs no program, makes no process and no network socket, and signals by pidfd only.
#pragma once

#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <utility>

#include "jail/os/lockdown.h"
#include "jail/os/lockdown_rows.h"

namespace mayfly::confinement {

// Beside the common groups.
inline constexpr auto kSupervisorRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(pidfd_open), Verdict::Allow, kAlways, "holds the processes of jails by descriptor"},
    {MAYFLY_CALL(pidfd_send_signal), Verdict::Allow, kAlways,
     "kills pid 1 of a jail; a pidfd names one process and never a recycled pid"},
    {MAYFLY_CALL(kill), Verdict::Deny, kAlways,
     "signals by pidfd alone: a number could be recycled, and -1 is everybody"},
    {MAYFLY_CALL(tkill), Verdict::Deny, kAlways,
     "signals by pidfd alone: a number could be recycled, and -1 is everybody"},
    {MAYFLY_CALL(rt_sigqueueinfo), Verdict::Deny, kAlways,
     "signals by pidfd alone: a number could be recycled, and -1 is everybody"},
    {MAYFLY_CALL(rt_tgsigqueueinfo), Verdict::Deny, kAlways,
     "signals by pidfd alone: a number could be recycled, and -1 is everybody"},
    {MAYFLY_CALL(accept4), Verdict::Allow, kAlways, "front ends and monitors on listening sockets"},
    {MAYFLY_CALL(waitid), Verdict::Allow, kAlways, "learns of an end by pidfd"},
    {MAYFLY_CALL(getdents), Verdict::Allow, kAlways, "old directory reading of libraries"},
    {MAYFLY_CALL(socket), Verdict::Allow, one_of(0, {AF_UNIX}), "local sockets only"},
    {MAYFLY_CALL(socket), Verdict::NoFamily, kAlways, "the supervisor speaks no network protocol"},
    {MAYFLY_CALL(setpriority), Verdict::Allow, kAlways, "its own weight, so that jails do not starve it"},
    {MAYFLY_CALL(sched_setaffinity), Verdict::Allow, kAlways, "its own weight, so that jails do not starve it"},
    {MAYFLY_CALL(inotify_init1), Verdict::Allow, kAlways, "hears of memory events of control groups"},
    {MAYFLY_CALL(inotify_add_watch), Verdict::Allow, kAlways, "hears of memory events of control groups"},
    {MAYFLY_CALL(inotify_rm_watch), Verdict::Allow, kAlways, "hears of memory events of control groups"},
    {MAYFLY_CALL(fgetxattr), Verdict::Allow, kAlways, "delegation marks of control groups"},
    {MAYFLY_CALL(setxattr), Verdict::Allow, kAlways, "delegation marks of control groups"},
    {MAYFLY_CALL(ioctl), Verdict::Allow,
     one_of(1, {TCGETS, FIONREAD, NS_GET_USERNS, NS_GET_PARENT, NS_GET_NSTYPE, NS_GET_OWNER_UID}),
     "asks what a stream or a namespace is"},
    {MAYFLY_CALL(ioctl), Verdict::Deny, kAlways, "nothing else"},
    {MAYFLY_CALL(prctl), Verdict::Allow, kAlways, "names itself"},
});

inline constexpr std::array kSupervisorCalls = {
    SyscallRows(lockdown::kRuntimeRows),     SyscallRows(lockdown::kWaitingRows),
    SyscallRows(lockdown::kMessageRows),     SyscallRows(lockdown::kRunStreamRows),
    SyscallRows(lockdown::kFileReadingRows), SyscallRows(lockdown::kFileWritingRows),
    SyscallRows(lockdown::kNoProcessRows),   SyscallRows(lockdown::kNoProgramRows),
    SyscallRows(lockdown::kNeverRows),       SyscallRows(kSupervisorRows)};

// No Landlock here: it would deny the look into /proc/<pid>/ns by which the controls of every jail are measured
// (EACCES, measured). What is reported must have been looked at, so the seccomp list stands alone.
inline LockDown supervisor() { return {kSupervisorCalls, {}, Tcp::None, Signals::Anybody, FileSystem::Free}; }

}  // namespace mayfly::confinement
