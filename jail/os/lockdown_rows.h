// Groups of rows from which the processes that confine themselves make their lists (confinement.h beside each of them).
// A list names each call once: of the groups that speak about the same call (threads or none) it takes one.
#pragma once

#include <array>

#include "jail/os/syscall_filter.h"

namespace mayfly::lockdown {

// pthread_create(3) of glibc: VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID.
inline constexpr std::uint32_t kThreadFlags = 0x003d'0f00;
// fork(3) of glibc: CHILD_CLEARTID, CHILD_SETTID and SIGCHLD; a bare fork by syscall(2); posix_spawn(3): VM, VFORK,
// SIGCHLD.
inline constexpr std::uint32_t kForkFlags = 0x0120'0011, kBareForkFlags = 0x11, kSpawnFlags = 0x4111;

// What libc and the C++ runtime need in any process.
inline constexpr auto kRuntimeRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(read), Verdict::Allow, kAlways, "uses the descriptors that it holds"},
    {MAYFLY_CALL(write), Verdict::Allow, kAlways, "uses the descriptors that it holds"},
    {MAYFLY_CALL(readv), Verdict::Allow, kAlways, "uses the descriptors that it holds"},
    {MAYFLY_CALL(writev), Verdict::Allow, kAlways, "uses the descriptors that it holds"},
    {MAYFLY_CALL(close), Verdict::Allow, kAlways, "uses the descriptors that it holds"},
    {MAYFLY_CALL(close_range), Verdict::Allow, kAlways, "uses the descriptors that it holds"},
    {MAYFLY_CALL(dup), Verdict::Allow, kAlways, "uses the descriptors that it holds"},
    {MAYFLY_CALL(dup2), Verdict::Allow, kAlways, "uses the descriptors that it holds"},
    {MAYFLY_CALL(dup3), Verdict::Allow, kAlways, "uses the descriptors that it holds"},
    {MAYFLY_CALL(fcntl), Verdict::Allow, kAlways, "uses the descriptors that it holds"},
    {MAYFLY_CALL(fstat), Verdict::Allow, kAlways, "uses the descriptors that it holds"},
    {MAYFLY_CALL(lseek), Verdict::Allow, kAlways, "uses the descriptors that it holds"},
    {MAYFLY_CALL(mmap), Verdict::Allow, kAlways, "memory of its own"},
    {MAYFLY_CALL(munmap), Verdict::Allow, kAlways, "memory of its own"},
    {MAYFLY_CALL(mprotect), Verdict::Allow, kAlways, "memory of its own"},
    {MAYFLY_CALL(mremap), Verdict::Allow, kAlways, "memory of its own"},
    {MAYFLY_CALL(madvise), Verdict::Allow, kAlways, "memory of its own"},
    {MAYFLY_CALL(brk), Verdict::Allow, kAlways, "memory of its own"},
    {MAYFLY_CALL(futex), Verdict::Allow, kAlways, "libc and the C++ runtime"},
    {MAYFLY_CALL(set_robust_list), Verdict::Allow, kAlways, "libc and the C++ runtime"},
    {MAYFLY_CALL(rseq), Verdict::Allow, kAlways, "libc and the C++ runtime"},
    {MAYFLY_CALL(sched_yield), Verdict::Allow, kAlways, "libc and the C++ runtime"},
    {MAYFLY_CALL(getcpu), Verdict::Allow, kAlways, "libc and the C++ runtime"},
    {MAYFLY_CALL(sched_getaffinity), Verdict::Allow, kAlways, "libc and the C++ runtime"},
    {MAYFLY_CALL(membarrier), Verdict::Allow, kAlways, "libc and the C++ runtime"},
    {MAYFLY_CALL(rt_sigaction), Verdict::Allow, kAlways, "how it takes signals itself"},
    {MAYFLY_CALL(rt_sigprocmask), Verdict::Allow, kAlways, "how it takes signals itself"},
    {MAYFLY_CALL(rt_sigreturn), Verdict::Allow, kAlways, "how it takes signals itself"},
    {MAYFLY_CALL(rt_sigpending), Verdict::Allow, kAlways, "how it takes signals itself"},
    {MAYFLY_CALL(rt_sigtimedwait), Verdict::Allow, kAlways, "how it takes signals itself"},
    {MAYFLY_CALL(sigaltstack), Verdict::Allow, kAlways, "how it takes signals itself"},
    {MAYFLY_CALL(exit), Verdict::Allow, kAlways, "ends, or goes on after a stop"},
    {MAYFLY_CALL(exit_group), Verdict::Allow, kAlways, "ends, or goes on after a stop"},
    {MAYFLY_CALL(restart_syscall), Verdict::Allow, kAlways, "ends, or goes on after a stop"},
    {MAYFLY_CALL(getpid), Verdict::Allow, kAlways, "who it is and where"},
    {MAYFLY_CALL(getppid), Verdict::Allow, kAlways, "who it is and where"},
    {MAYFLY_CALL(gettid), Verdict::Allow, kAlways, "who it is and where"},
    {MAYFLY_CALL(getuid), Verdict::Allow, kAlways, "who it is and where"},
    {MAYFLY_CALL(geteuid), Verdict::Allow, kAlways, "who it is and where"},
    {MAYFLY_CALL(getgid), Verdict::Allow, kAlways, "who it is and where"},
    {MAYFLY_CALL(getegid), Verdict::Allow, kAlways, "who it is and where"},
    {MAYFLY_CALL(getresuid), Verdict::Allow, kAlways, "who it is and where"},
    {MAYFLY_CALL(getresgid), Verdict::Allow, kAlways, "who it is and where"},
    {MAYFLY_CALL(getgroups), Verdict::Allow, kAlways, "who it is and where"},
    {MAYFLY_CALL(uname), Verdict::Allow, kAlways, "who it is and where"},
    {MAYFLY_CALL(sysinfo), Verdict::Allow, kAlways, "who it is and where"},
    {MAYFLY_CALL(clock_gettime), Verdict::Allow, kAlways, "clocks"},
    {MAYFLY_CALL(clock_getres), Verdict::Allow, kAlways, "clocks"},
    {MAYFLY_CALL(clock_nanosleep), Verdict::Allow, kAlways, "clocks"},
    {MAYFLY_CALL(nanosleep), Verdict::Allow, kAlways, "clocks"},
    {MAYFLY_CALL(gettimeofday), Verdict::Allow, kAlways, "clocks"},
    {MAYFLY_CALL(time), Verdict::Allow, kAlways, "clocks"},
    {MAYFLY_CALL(getrusage), Verdict::Allow, kAlways, "clocks"},
    {MAYFLY_CALL(times), Verdict::Allow, kAlways, "clocks"},
    {MAYFLY_CALL(getrandom), Verdict::Allow, kAlways, "keys, ids and hash seeds"},
    {MAYFLY_CALL(prlimit64), Verdict::Allow, one_of(0, {0}), "its own limits"},
    {MAYFLY_CALL(prlimit64), Verdict::Deny, kAlways, "limits of others"},
    {MAYFLY_CALL(getrlimit), Verdict::Allow, kAlways, "its own limits"},
    {MAYFLY_CALL(setrlimit), Verdict::Allow, kAlways, "its own limits"},
});

// Waiting on descriptors.
inline constexpr auto kWaitingRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(poll), Verdict::Allow, kAlways, "the event loop"},
    {MAYFLY_CALL(ppoll), Verdict::Allow, kAlways, "the event loop"},
    {MAYFLY_CALL(epoll_create1), Verdict::Allow, kAlways, "the event loop"},
    {MAYFLY_CALL(epoll_ctl), Verdict::Allow, kAlways, "the event loop"},
    {MAYFLY_CALL(epoll_wait), Verdict::Allow, kAlways, "the event loop"},
    {MAYFLY_CALL(epoll_pwait), Verdict::Allow, kAlways, "the event loop"},
    {MAYFLY_CALL(epoll_pwait2), Verdict::Allow, kAlways, "the event loop"},
    {MAYFLY_CALL(eventfd2), Verdict::Allow, kAlways, "the event loop"},
    {MAYFLY_CALL(timerfd_create), Verdict::Allow, kAlways, "the event loop"},
    {MAYFLY_CALL(timerfd_settime), Verdict::Allow, kAlways, "the event loop"},
    {MAYFLY_CALL(timerfd_gettime), Verdict::Allow, kAlways, "the event loop"},
    {MAYFLY_CALL(signalfd4), Verdict::Allow, kAlways, "the event loop"},
});

// Sockets that are open already.
inline constexpr auto kMessageRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(recvmsg), Verdict::Allow, kAlways, "speaks on the sockets that it holds"},
    {MAYFLY_CALL(recvfrom), Verdict::Allow, kAlways, "speaks on the sockets that it holds"},
    {MAYFLY_CALL(sendmsg), Verdict::Allow, kAlways, "speaks on the sockets that it holds"},
    {MAYFLY_CALL(sendto), Verdict::Allow, kAlways, "speaks on the sockets that it holds"},
    {MAYFLY_CALL(recvmmsg), Verdict::Allow, kAlways, "speaks on the sockets that it holds"},
    {MAYFLY_CALL(sendmmsg), Verdict::Allow, kAlways, "speaks on the sockets that it holds"},
    {MAYFLY_CALL(shutdown), Verdict::Allow, kAlways, "speaks on the sockets that it holds"},
    {MAYFLY_CALL(getsockopt), Verdict::Allow, kAlways, "speaks on the sockets that it holds"},
    {MAYFLY_CALL(setsockopt), Verdict::Allow, kAlways, "speaks on the sockets that it holds"},
    {MAYFLY_CALL(getsockname), Verdict::Allow, kAlways, "speaks on the sockets that it holds"},
    {MAYFLY_CALL(getpeername), Verdict::Allow, kAlways, "speaks on the sockets that it holds"},
});

// Making what a run needs: pipes, socket pairs, memfds.
inline constexpr auto kRunStreamRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(pipe2), Verdict::Allow, kAlways, "pipes and sealed memory files that carry a run"},
    {MAYFLY_CALL(socketpair), Verdict::Allow, kAlways, "pipes and sealed memory files that carry a run"},
    {MAYFLY_CALL(memfd_create), Verdict::Allow, kAlways, "pipes and sealed memory files that carry a run"},
    {MAYFLY_CALL(ftruncate), Verdict::Allow, kAlways, "pipes and sealed memory files that carry a run"},
    {MAYFLY_CALL(pread64), Verdict::Allow, kAlways, "pipes and sealed memory files that carry a run"},
    {MAYFLY_CALL(pwrite64), Verdict::Allow, kAlways, "pipes and sealed memory files that carry a run"},
});

// Opening and looking.
inline constexpr auto kFileReadingRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(openat), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(open), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(openat2), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(access), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(faccessat), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(faccessat2), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(readlink), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(readlinkat), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(stat), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(lstat), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(newfstatat), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(statx), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(getdents64), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(getcwd), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(fstatfs), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(statfs), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
    {MAYFLY_CALL(fadvise64), Verdict::Allow, kAlways, "files that Landlock leaves in reach"},
});

// Making, changing, removing.
inline constexpr auto kFileWritingRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(fsync), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(fdatasync), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(sync_file_range), Verdict::Allow, kAlways,
     "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(fallocate), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(rename), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(renameat), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(renameat2), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(link), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(linkat), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(unlink), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(unlinkat), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(mkdir), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(mkdirat), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(rmdir), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(chmod), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(fchmod), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(fchmodat), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(chown), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(fchown), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(fchownat), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(flock), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(utimensat), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(umask), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(preadv), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(pwritev), Verdict::Allow, kAlways, "its own files in the directories that Landlock leaves writable"},
    {MAYFLY_CALL(copy_file_range), Verdict::Allow, kAlways,
     "its own files in the directories that Landlock leaves writable"},
});

// Threads, and no processes.
inline constexpr auto kThreadRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(clone), Verdict::Allow, one_of(0, {kThreadFlags}), "a thread of a library"},
    {MAYFLY_CALL(clone), Verdict::Deny, kAlways, "starts no process"},
    {MAYFLY_CALL(clone3), Verdict::Absent, kAlways, "libc falls back to clone, whose flags can be judged"},
    {MAYFLY_CALL(set_tid_address), Verdict::Allow, kAlways, "a thread that begins"},
});

// Neither threads nor processes.
inline constexpr auto kNoProcessRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(clone), Verdict::Deny, kAlways, "starts no process and no thread"},
    {MAYFLY_CALL(fork), Verdict::Deny, kAlways, "starts no process and no thread"},
    {MAYFLY_CALL(vfork), Verdict::Deny, kAlways, "starts no process and no thread"},
    {MAYFLY_CALL(clone3), Verdict::Absent, kAlways, "starts no process and no thread"},
});

// No execve.
inline constexpr auto kNoProgramRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(execve), Verdict::Deny, kAlways, "runs no other program"},
    {MAYFLY_CALL(execveat), Verdict::Deny, kAlways, "runs no other program"},
});

// Nobody is signalled.
inline constexpr auto kNoSignalRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(kill), Verdict::Deny, kAlways,
     "signals nobody: a front end that is taken over must not reach another process"},
    {MAYFLY_CALL(tkill), Verdict::Deny, kAlways,
     "signals nobody: a front end that is taken over must not reach another process"},
    {MAYFLY_CALL(rt_sigqueueinfo), Verdict::Deny, kAlways,
     "signals nobody: a front end that is taken over must not reach another process"},
    {MAYFLY_CALL(rt_tgsigqueueinfo), Verdict::Deny, kAlways,
     "signals nobody: a front end that is taken over must not reach another process"},
    {MAYFLY_CALL(pidfd_send_signal), Verdict::Deny, kAlways,
     "signals nobody: a front end that is taken over must not reach another process"},
});

// What no process of ours but the builder ever calls. Said aloud, so that a table that allows one does not compile.
inline constexpr auto kNeverRows = std::to_array<SyscallRow>({
    {MAYFLY_CALL(ptrace), Verdict::Deny, kAlways, "reads and writes other processes"},
    {MAYFLY_CALL(process_vm_readv), Verdict::Deny, kAlways, "reads and writes other processes"},
    {MAYFLY_CALL(process_vm_writev), Verdict::Deny, kAlways, "reads and writes other processes"},
    {MAYFLY_CALL(pidfd_getfd), Verdict::Deny, kAlways, "reads and writes other processes"},
    {MAYFLY_CALL(kcmp), Verdict::Deny, kAlways, "reads and writes other processes"},
    {MAYFLY_CALL(mount), Verdict::Deny, kAlways, "only the builder touches mounts and namespaces"},
    {MAYFLY_CALL(umount2), Verdict::Deny, kAlways, "only the builder touches mounts and namespaces"},
    {MAYFLY_CALL(pivot_root), Verdict::Deny, kAlways, "only the builder touches mounts and namespaces"},
    {MAYFLY_CALL(chroot), Verdict::Deny, kAlways, "only the builder touches mounts and namespaces"},
    {MAYFLY_CALL(open_tree), Verdict::Deny, kAlways, "only the builder touches mounts and namespaces"},
    {MAYFLY_CALL(move_mount), Verdict::Deny, kAlways, "only the builder touches mounts and namespaces"},
    {MAYFLY_CALL(fsopen), Verdict::Deny, kAlways, "only the builder touches mounts and namespaces"},
    {MAYFLY_CALL(fsmount), Verdict::Deny, kAlways, "only the builder touches mounts and namespaces"},
    {MAYFLY_CALL(fsconfig), Verdict::Deny, kAlways, "only the builder touches mounts and namespaces"},
    {MAYFLY_CALL(mount_setattr), Verdict::Deny, kAlways, "only the builder touches mounts and namespaces"},
    {MAYFLY_CALL(unshare), Verdict::Deny, kAlways, "only the builder touches mounts and namespaces"},
    {MAYFLY_CALL(setns), Verdict::Deny, kAlways, "only the builder touches mounts and namespaces"},
    {MAYFLY_CALL(bpf), Verdict::Deny, kAlways, "the kernel and the whole host"},
    {MAYFLY_CALL(perf_event_open), Verdict::Deny, kAlways, "the kernel and the whole host"},
    {MAYFLY_CALL(userfaultfd), Verdict::Deny, kAlways, "the kernel and the whole host"},
    {MAYFLY_CALL(init_module), Verdict::Deny, kAlways, "the kernel and the whole host"},
    {MAYFLY_CALL(finit_module), Verdict::Deny, kAlways, "the kernel and the whole host"},
    {MAYFLY_CALL(delete_module), Verdict::Deny, kAlways, "the kernel and the whole host"},
    {MAYFLY_CALL(kexec_load), Verdict::Deny, kAlways, "the kernel and the whole host"},
    {MAYFLY_CALL(reboot), Verdict::Deny, kAlways, "the kernel and the whole host"},
    {MAYFLY_CALL(swapon), Verdict::Deny, kAlways, "the kernel and the whole host"},
    {MAYFLY_CALL(io_uring_setup), Verdict::Absent, kAlways, "goes past filters, or outlives the process"},
    {MAYFLY_CALL(io_uring_enter), Verdict::Absent, kAlways, "goes past filters, or outlives the process"},
    {MAYFLY_CALL(io_uring_register), Verdict::Absent, kAlways, "goes past filters, or outlives the process"},
    {MAYFLY_CALL(keyctl), Verdict::Absent, kAlways, "goes past filters, or outlives the process"},
    {MAYFLY_CALL(add_key), Verdict::Absent, kAlways, "goes past filters, or outlives the process"},
    {MAYFLY_CALL(request_key), Verdict::Absent, kAlways, "goes past filters, or outlives the process"},
    {MAYFLY_CALL(settimeofday), Verdict::Deny, kAlways, "the host's clock"},
    {MAYFLY_CALL(clock_settime), Verdict::Deny, kAlways, "the host's clock"},
    {MAYFLY_CALL(adjtimex), Verdict::Deny, kAlways, "the host's clock"},
    {MAYFLY_CALL(clock_adjtime), Verdict::Deny, kAlways, "the host's clock"},
});

}  // namespace mayfly::lockdown
