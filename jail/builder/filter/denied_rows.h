// What a jail's program is refused beside the builder's deny list: calls that the builder itself needs, and calls that
// are judged by their arguments.
#pragma once

#include <linux/prctl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>

#include "jail/builder/filter/newer_calls.h"
#include "jail/os/syscall_filter.h"

namespace mayfly::filter {

inline constexpr std::uint32_t kNamespaceFlags =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
// fcntl.h has it only with extensions, and not together with linux/fcntl.h.
inline constexpr std::uint32_t kSetPipeSize = 1031;
inline constexpr std::uint32_t kNotify = 1026;              // F_NOTIFY
inline constexpr std::uint32_t kSocketType = 0xf;           // without SOCK_CLOEXEC and SOCK_NONBLOCK
inline constexpr std::uint32_t kMemfdHuge = 4;              // MFD_HUGETLB
inline constexpr std::uint32_t kResetOnFork = 0x4000'0000;  // SCHED_RESET_ON_FORK
// prctl(2) PR_SCHED_CORE and personality(2), where the headers may be older.
inline constexpr std::uint32_t kSchedCore = 62;
inline constexpr std::uint32_t kQueryPersonality = 0xffff'ffff;
// net/protocols: IPPROTO_*; 1 is PF_UNIX for AF_UNIX as well.
inline constexpr std::uint32_t kAnyProtocol = 0, kIcmp = 1, kTcp = 6, kUdp = 17, kIcmp6 = 58;

inline constexpr auto kDeniedRows = std::to_array<SyscallRow>({
    // Mounts and roots, the old calls and the new
    {MAYFLY_CALL(mount), Verdict::Deny, kAlways, "the tree of a jail is final"},
    {MAYFLY_CALL(umount2), Verdict::Deny, kAlways, "would uncover what masks cover"},
    {MAYFLY_CALL(pivot_root), Verdict::Deny, kAlways, "the root of a jail is final"},
    {MAYFLY_CALL(chroot), Verdict::Deny, kAlways, "the root of a jail is final"},
    {MAYFLY_CALL(open_tree), Verdict::Deny, kAlways, "new mount API: as mount"},
    {MAYFLY_CALL(move_mount), Verdict::Deny, kAlways, "new mount API: as mount"},
    {MAYFLY_CALL(fsopen), Verdict::Deny, kAlways, "new mount API: as mount"},
    {MAYFLY_CALL(fsconfig), Verdict::Deny, kAlways, "new mount API: as mount; parsed options in the kernel with holes"},
    {MAYFLY_CALL(fsmount), Verdict::Deny, kAlways, "new mount API: as mount"},
    {MAYFLY_CALL(fspick), Verdict::Deny, kAlways, "new mount API: as mount"},
    {MAYFLY_CALL(mount_setattr), Verdict::Deny, kAlways, "new mount API: would make read-only trees writable"},
    {newer::kOpenTreeAttr, "open_tree_attr", Verdict::Deny, kAlways, "new mount API: as mount_setattr"},
    {newer::kStatmount, "statmount", Verdict::Deny, kAlways, "tells where mounts come from on the host"},
    {newer::kListmount, "listmount", Verdict::Deny, kAlways, "tells the mounts of other namespaces"},

    // Namespaces
    {MAYFLY_CALL(unshare), Verdict::Deny, kAlways, "makes namespaces; nested user namespaces open most kernel holes"},
    {MAYFLY_CALL(setns), Verdict::Deny, kAlways, "joins other namespaces"},
    {newer::kListNs, "listns", Verdict::Deny, kAlways, "tells the namespaces of the host"},
    {MAYFLY_CALL(clone3), Verdict::Absent, kAlways,
     "its flags lie in memory where no filter sees them; libc falls back"},
    {MAYFLY_CALL(clone), Verdict::Deny, any_bit(0, kNamespaceFlags), "makes namespaces, as unshare"},
    {MAYFLY_CALL(clone), Verdict::Allow, kAlways, "processes and threads; the pids limit bounds them"},
    {MAYFLY_CALL(sethostname), Verdict::Deny, kAlways, "the host name of a jail is a constant"},
    {MAYFLY_CALL(setdomainname), Verdict::Deny, kAlways, "as sethostname"},

    // Judged by their arguments
    {MAYFLY_CALL(socket), Verdict::NoFamily, none_of(0, {AF_UNIX, AF_INET, AF_INET6}),
     "other families are kernel code that a jail without a network has no use for"},
    {MAYFLY_CALL(socket), Verdict::Invalid,
     none_of(1, {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET}, kSocketType),
     "SOCK_PACKET is another way to AF_PACKET; for a rare type the host loads a module"},
    {MAYFLY_CALL(socket), Verdict::Allow, one_of(0, {AF_UNIX}), "programs talk to themselves"},
    {MAYFLY_CALL(socket), Verdict::Invalid, one_of(1, {SOCK_SEQPACKET}, kSocketType),
     "no such internet socket but SCTP's"},
    {MAYFLY_CALL(socket), Verdict::NoProtocol, none_of(2, {kAnyProtocol, kIcmp, kTcp, kUdp, kIcmp6}),
     "asking for a rare protocol makes the host load its module"},
    {MAYFLY_CALL(socket), Verdict::Allow, kAlways, "programs talk to themselves over lo"},
    {MAYFLY_CALL(socketpair), Verdict::NoFamily, none_of(0, {AF_UNIX}), "no other family has pairs"},
    {MAYFLY_CALL(socketpair), Verdict::Invalid, none_of(1, {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}, kSocketType),
     "no other type has pairs"},
    {MAYFLY_CALL(socketpair), Verdict::Allow, kAlways, "pairs between a program's own processes"},
    {MAYFLY_CALL(ioctl), Verdict::Deny, one_of(1, {TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS}),
     "types into a terminal, or loads a line discipline into the kernel"},
    {MAYFLY_CALL(ioctl), Verdict::Allow, kAlways, "terminals, sockets and files of the jail"},
    {MAYFLY_CALL(fcntl), Verdict::Deny, one_of(1, {kSetPipeSize}),
     "pipes stay at 64 KiB, so that what is left in them at the end is bounded"},
    {MAYFLY_CALL(fcntl), Verdict::Invalid, one_of(1, {kNotify}), "as inotify_init"},
    {MAYFLY_CALL(fcntl), Verdict::Allow, kAlways, "flags, locks and copies of descriptors"},
    {MAYFLY_CALL(prctl), Verdict::Deny,
     one_of(0, {PR_SET_MM, PR_TASK_PERF_EVENTS_DISABLE, PR_TASK_PERF_EVENTS_ENABLE, kSchedCore, PR_SET_IO_FLUSHER}),
     "moves the memory map's marks, drives perf, or weighs on the host's scheduler"},
    {MAYFLY_CALL(prctl), Verdict::Invalid, one_of(0, {PR_SET_SECCOMP}),
     "as seccomp; on a kernel without filters libraries see EINVAL, and go on"},
    {MAYFLY_CALL(prctl), Verdict::Allow, kAlways, "a process's own name, death signal, timer slack"},
    {MAYFLY_CALL(personality), Verdict::Deny, none_of(0, {0, kQueryPersonality}),
     "switches off layout randomisation and maps page zero; asking stays possible"},
    {MAYFLY_CALL(personality), Verdict::Allow, kAlways, "asking for the personality"},
    {MAYFLY_CALL(prlimit64), Verdict::Deny, none_of(0, {0}),
     "limits of other processes: rootless jails share one host uid"},
    {MAYFLY_CALL(prlimit64), Verdict::Allow, kAlways, "a process's own limits; hard limits only go down"},
    {MAYFLY_CALL(sched_setscheduler), Verdict::Deny, none_of(1, {SCHED_OTHER, SCHED_BATCH, SCHED_IDLE}, ~kResetOnFork),
     "real-time and deadline scheduling would starve the host"},
    {MAYFLY_CALL(sched_setscheduler), Verdict::Allow, kAlways, "the fair policies"},
    {MAYFLY_CALL(sched_setattr), Verdict::Deny, kAlways, "its policy lies in memory where no filter sees it"},
    {MAYFLY_CALL(seccomp), Verdict::Absent, kAlways,
     "a filter can make the host's kernel log every call (SECCOMP_RET_LOG), and lies where no filter sees it"},
    {MAYFLY_CALL(mknod), Verdict::Deny, none_of(1, {0, S_IFREG, S_IFIFO, S_IFSOCK}, S_IFMT), "device nodes"},
    {MAYFLY_CALL(mknod), Verdict::Allow, kAlways, "fifos, sockets and plain files"},
    {MAYFLY_CALL(mknodat), Verdict::Deny, none_of(2, {0, S_IFREG, S_IFIFO, S_IFSOCK}, S_IFMT), "device nodes"},
    {MAYFLY_CALL(mknodat), Verdict::Allow, kAlways, "fifos, sockets and plain files"},

    // Absent: rarely used, and kernel code that a one-shot program has no need of
    {MAYFLY_CALL(memfd_secret), Verdict::Absent, kAlways,
     "memory that cannot be reclaimed, taken out of the kernel's map"},
    {MAYFLY_CALL(io_setup), Verdict::Absent, kAlways,
     "old asynchronous I/O: its requests count against the whole host"},
    {MAYFLY_CALL(io_destroy), Verdict::Absent, kAlways, "as io_setup"},
    {MAYFLY_CALL(io_submit), Verdict::Absent, kAlways, "as io_setup"},
    {MAYFLY_CALL(io_cancel), Verdict::Absent, kAlways, "as io_setup"},
    {MAYFLY_CALL(io_getevents), Verdict::Absent, kAlways, "as io_setup"},
    {MAYFLY_CALL(io_pgetevents), Verdict::Absent, kAlways, "as io_setup"},
    {MAYFLY_CALL(splice), Verdict::Invalid, kAlways,
     "puts more than a page into a slot of a pipe: what is left in one at the end would not be bounded"},
    {MAYFLY_CALL(tee), Verdict::Invalid, kAlways, "as splice; programs that know it fall back to reading"},
    {MAYFLY_CALL(inotify_init), Verdict::Absent, kAlways,
     "tells what other jails and the host open below /usr, whose files are one and the same"},
    {MAYFLY_CALL(inotify_init1), Verdict::Absent, kAlways, "as inotify_init"},
    {MAYFLY_CALL(inotify_add_watch), Verdict::Absent, kAlways, "as inotify_init"},
    {MAYFLY_CALL(inotify_rm_watch), Verdict::Absent, kAlways, "as inotify_init"},
    {MAYFLY_CALL(sync), Verdict::Absent, kAlways, "writes out the file systems of the whole host"},
    {MAYFLY_CALL(syncfs), Verdict::Absent, kAlways, "on a file below /usr it writes out a file system of the host"},
    {MAYFLY_CALL(mmap), Verdict::Invalid, any_bit(3, MAP_HUGETLB),
     "huge pages are a store of the host's that no limit on memory counts"},
    {MAYFLY_CALL(mmap), Verdict::Allow, kAlways, "its own memory, which its limit counts"},
    {MAYFLY_CALL(memfd_create), Verdict::Invalid, any_bit(1, kMemfdHuge), "as mmap with MAP_HUGETLB"},
    {MAYFLY_CALL(memfd_create), Verdict::Allow, kAlways, "its own memory, which its limit counts"},
    {MAYFLY_CALL(shmget), Verdict::Invalid, any_bit(2, SHM_HUGETLB), "as mmap with MAP_HUGETLB"},
    {MAYFLY_CALL(shmget), Verdict::Allow, kAlways, "counted in the jail's own ipc namespace and gone with it"},
    {MAYFLY_CALL(vmsplice), Verdict::Absent, kAlways, "gives pages of a program to the kernel's pipes; holes"},
    {MAYFLY_CALL(migrate_pages), Verdict::Absent, kAlways, "moves memory between nodes of the host"},
    {MAYFLY_CALL(move_pages), Verdict::Absent, kAlways, "moves memory between nodes of the host"},
    {MAYFLY_CALL(process_mrelease), Verdict::Absent, kAlways, "acts on the memory of other processes"},
    {MAYFLY_CALL(remap_file_pages), Verdict::Absent, kAlways, "long replaced by mmap"},
    {MAYFLY_CALL(uselib), Verdict::Absent, kAlways, "loader of a.out libraries"},
    {MAYFLY_CALL(ustat), Verdict::Absent, kAlways, "tells about devices of the host"},
    {MAYFLY_CALL(sysfs), Verdict::Absent, kAlways, "lists the kernel's file systems"},
    {MAYFLY_CALL(nfsservctl), Verdict::Absent, kAlways, "kernel file server of old kernels"},
    {MAYFLY_CALL(_sysctl), Verdict::Absent, kAlways, "binary sysctl of old kernels"},
    {newer::kMapShadowStack, "map_shadow_stack", Verdict::Absent, kAlways, "libc asks for it only where it is needed"},
    {newer::kLsmSetSelfAttr, "lsm_set_self_attr", Verdict::Absent, kAlways, "changes labels of the host's policy"},
});

}  // namespace mayfly::filter
