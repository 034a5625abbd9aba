// What pid 1 of a jail may call once the program runs: reap, tell the supervisor, signal, wait for the end. Loaded
// after the program's process has left it (the vfork returned), on top of whatever it had before.
#pragma once

#include <sys/ioctl.h>

#include <array>

#include "jail/os/syscall_filter.h"

namespace mayfly::filter {

inline constexpr auto kInitRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(poll), Verdict::Allow, kAlways, "waits for the program, the supervisor and the gate"},
    {MAYFLY_CALL(ppoll), Verdict::Allow, kAlways, "as poll, with signals let in"},
    {MAYFLY_CALL(read), Verdict::Allow, kAlways, "reads its signal and timer descriptors"},
    {MAYFLY_CALL(write), Verdict::Allow, kAlways, "speaks on the gate"},
    {MAYFLY_CALL(recvmsg), Verdict::Allow, kAlways, "takes the supervisor's commands"},
    {MAYFLY_CALL(recvfrom), Verdict::Allow, kAlways, "takes the supervisor's commands"},
    {MAYFLY_CALL(sendmsg), Verdict::Allow, kAlways, "tells the supervisor how the program ended"},
    {MAYFLY_CALL(sendto), Verdict::Allow, kAlways, "tells the supervisor how the program ended"},
    {MAYFLY_CALL(close), Verdict::Allow, kAlways, "drops what it no longer needs"},
    {MAYFLY_CALL(close_range), Verdict::Allow, kAlways, "drops what it no longer needs"},
    {MAYFLY_CALL(wait4), Verdict::Allow, kAlways, "reaps, orphans too"},
    {MAYFLY_CALL(waitid), Verdict::Allow, kAlways, "reaps, orphans too"},
    {MAYFLY_CALL(getrusage), Verdict::Allow, kAlways, "CPU time of what it has reaped"},
    {MAYFLY_CALL(statfs), Verdict::Allow, kAlways, "whether the jail's disk is full at the end"},
    {MAYFLY_CALL(kill), Verdict::Allow, kAlways, "signals the program's group; reaches only its own pid namespace"},
    {MAYFLY_CALL(pidfd_open), Verdict::Allow, kAlways, "holds the program"},
    {MAYFLY_CALL(pidfd_send_signal), Verdict::Allow, kAlways, "signals the program"},
    {MAYFLY_CALL(setresuid), Verdict::Allow, kAlways, "takes the program's id for a signal and its own again"},
    {MAYFLY_CALL(setreuid), Verdict::Allow, kAlways, "takes the program's id for a signal and its own again"},
    {MAYFLY_CALL(ioctl), Verdict::Allow, one_of(1, {TIOCGPGRP}), "asks for the terminal's foreground group"},
    {MAYFLY_CALL(ioctl), Verdict::Deny, kAlways, "pid 1 does nothing else to a terminal"},
    {MAYFLY_CALL(rt_sigaction), Verdict::Allow, kAlways, "its own signal handling"},
    {MAYFLY_CALL(rt_sigprocmask), Verdict::Allow, kAlways, "its own signal handling"},
    {MAYFLY_CALL(rt_sigtimedwait), Verdict::Allow, kAlways, "its own signal handling"},
    {MAYFLY_CALL(rt_sigreturn), Verdict::Allow, kAlways, "its own signal handling"},
    {MAYFLY_CALL(restart_syscall), Verdict::Allow, kAlways, "the kernel goes on with a wait after a stop"},
    {MAYFLY_CALL(clock_gettime), Verdict::Allow, kAlways, "the wall limit's backup, where the vdso has no clock"},
    {MAYFLY_CALL(clock_nanosleep), Verdict::Allow, kAlways, "waits to be killed"},
    {MAYFLY_CALL(nanosleep), Verdict::Allow, kAlways, "waits to be killed"},
    {MAYFLY_CALL(timerfd_create), Verdict::Allow, kAlways, "the wall limit's backup"},
    {MAYFLY_CALL(timerfd_settime), Verdict::Allow, kAlways, "the wall limit's backup"},
    {MAYFLY_CALL(signalfd4), Verdict::Allow, kAlways, "hears of children by descriptor"},
    {MAYFLY_CALL(shmctl), Verdict::Allow, kAlways, "removes what programs left in the ipc namespace"},
    {MAYFLY_CALL(semctl), Verdict::Allow, kAlways, "removes what programs left in the ipc namespace"},
    {MAYFLY_CALL(msgctl), Verdict::Allow, kAlways, "removes what programs left in the ipc namespace"},
    {MAYFLY_CALL(getpid), Verdict::Allow, kAlways, "harmless, and libc may ask"},
    {MAYFLY_CALL(gettid), Verdict::Allow, kAlways, "harmless, and libc may ask"},
    {MAYFLY_CALL(munmap), Verdict::Allow, kAlways, "gives back the stack of the program's process"},
    {MAYFLY_CALL(exit), Verdict::Allow, kAlways, "ends, and the jail with it"},
    {MAYFLY_CALL(exit_group), Verdict::Allow, kAlways, "ends, and the jail with it"},
});

}  // namespace mayfly::filter
