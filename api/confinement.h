// What the HTTP front end leaves itself: connections on the listener that it was given, leases, its SQLite file. It
// runs no program, signals nobody, connects to nothing outside.
#pragma once

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <utility>

#include "jail/os/lockdown.h"
#include "jail/os/lockdown_rows.h"

namespace mayfly::confinement {

// Beside the common groups.
inline constexpr auto kApiRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(accept4), Verdict::Allow, kAlways, "new connections"},
    {MAYFLY_CALL(accept), Verdict::Allow, kAlways, "new connections"},
    {MAYFLY_CALL(socket), Verdict::Allow, one_of(0, {AF_UNIX}), "the lease socket"},
    {MAYFLY_CALL(socket), Verdict::NoFamily, kAlways, "opens no network connection"},
    {MAYFLY_CALL(connect), Verdict::Allow, kAlways, "the lease socket"},
    {MAYFLY_CALL(listen), Verdict::Allow, kAlways, "asks for a longer queue on the listener that it was given"},
    {MAYFLY_CALL(bind), Verdict::Deny, kAlways, "its listener was given to it"},
    {MAYFLY_CALL(pidfd_open), Verdict::Allow, kAlways, "watches the keeper"},
    {MAYFLY_CALL(prctl), Verdict::Allow, kAlways, "names itself"},
    {MAYFLY_CALL(msync), Verdict::Allow, kAlways, "SQLite's shared memory"},
    {MAYFLY_CALL(mincore), Verdict::Allow, kAlways, "SQLite's shared memory"},
    {MAYFLY_CALL(epoll_create), Verdict::Allow, kAlways, "older forms that libraries still use"},
    {MAYFLY_CALL(eventfd), Verdict::Allow, kAlways, "older forms that libraries still use"},
    {MAYFLY_CALL(pipe), Verdict::Allow, kAlways, "older forms that libraries still use"},
    {MAYFLY_CALL(getdents), Verdict::Allow, kAlways, "older forms that libraries still use"},
    {MAYFLY_CALL(arch_prctl), Verdict::Allow, kAlways, "a thread that begins"},
    {MAYFLY_CALL(ioctl), Verdict::Allow, one_of(1, {TCGETS, FIONREAD, FIONBIO}), "asks how much waits on a socket"},
    {MAYFLY_CALL(ioctl), Verdict::Deny, kAlways, "nothing else"},
});

inline constexpr std::array kApiCalls = {SyscallRows(lockdown::kRuntimeRows),
                                         SyscallRows(lockdown::kWaitingRows),
                                         SyscallRows(lockdown::kMessageRows),
                                         SyscallRows(lockdown::kRunStreamRows),
                                         SyscallRows(lockdown::kFileReadingRows),
                                         SyscallRows(lockdown::kFileWritingRows),
                                         SyscallRows(lockdown::kThreadRows),
                                         SyscallRows(lockdown::kNoProgramRows),
                                         SyscallRows(lockdown::kNoSignalRows),
                                         SyscallRows(lockdown::kNeverRows),
                                         SyscallRows(kApiRows)};

// `reach`: the folder of the job store (Write), the folder of lease.sock, /etc and /usr/share (Read).
inline LockDown api(std::vector<Reach> reach) { return {kApiCalls, std::move(reach), Tcp::None, Signals::OwnOnly}; }

}  // namespace mayfly::confinement
