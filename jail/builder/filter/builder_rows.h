// The builder's own deny list: calls that neither the builder nor anything that it starts ever makes. Loaded once, when
// the builder starts, and inherited by every jail; the filter of a jail's program contains each of these rows too.
// Everything else is allowed to the builder: it is the process that clones and mounts.
#pragma once

#include <array>

#include "jail/os/syscall_filter.h"

namespace mayfly::filter {

inline constexpr auto kBuilderRows = std::to_array<SyscallRow>({
    // Other processes' memory and descriptors
    {MAYFLY_CALL(ptrace), Verdict::Deny, kAlways,
     "reads and writes other processes, also while a jail is being set up"},
    {MAYFLY_CALL(process_vm_readv), Verdict::Deny, kAlways, "ptrace's reading half under another name"},
    {MAYFLY_CALL(process_vm_writev), Verdict::Deny, kAlways, "ptrace's writing half under another name"},
    {MAYFLY_CALL(pidfd_getfd), Verdict::Deny, kAlways, "takes a descriptor out of another process"},
    {MAYFLY_CALL(kcmp), Verdict::Deny, kAlways, "tells addresses of kernel objects apart"},
    {MAYFLY_CALL(process_madvise), Verdict::Absent, kAlways, "acts on the memory of other processes"},

    // What outlives a jail or is counted per host user
    {MAYFLY_CALL(keyctl), Verdict::Absent, kAlways, "keyrings outlive the jail and are counted per user"},
    {MAYFLY_CALL(add_key), Verdict::Absent, kAlways, "keyrings outlive the jail and are counted per user"},
    {MAYFLY_CALL(request_key), Verdict::Absent, kAlways, "starts a helper of the host, and keys outlive the jail"},

    // Engines inside the kernel
    {MAYFLY_CALL(io_uring_setup), Verdict::Absent, kAlways, "opens files and sockets that this filter never sees"},
    {MAYFLY_CALL(io_uring_enter), Verdict::Absent, kAlways, "opens files and sockets that this filter never sees"},
    {MAYFLY_CALL(io_uring_register), Verdict::Absent, kAlways, "opens files and sockets that this filter never sees"},
    {MAYFLY_CALL(bpf), Verdict::Deny, kAlways, "loads programs into the kernel"},
    {MAYFLY_CALL(perf_event_open), Verdict::Deny, kAlways, "samples the whole host; a long record of kernel holes"},
    {MAYFLY_CALL(userfaultfd), Verdict::Deny, kAlways, "stops the kernel in the middle of a copy; makes races easy"},

    // The running kernel
    {MAYFLY_CALL(kexec_load), Verdict::Deny, kAlways, "replaces the kernel"},
    {MAYFLY_CALL(kexec_file_load), Verdict::Deny, kAlways, "replaces the kernel"},
    {MAYFLY_CALL(init_module), Verdict::Deny, kAlways, "loads code into the kernel"},
    {MAYFLY_CALL(finit_module), Verdict::Deny, kAlways, "loads code into the kernel"},
    {MAYFLY_CALL(delete_module), Verdict::Deny, kAlways, "unloads code of the kernel"},
    {MAYFLY_CALL(create_module), Verdict::Deny, kAlways, "module call of old kernels"},
    {MAYFLY_CALL(get_kernel_syms), Verdict::Deny, kAlways, "module call of old kernels"},
    {MAYFLY_CALL(query_module), Verdict::Deny, kAlways, "module call of old kernels"},
    {MAYFLY_CALL(iopl), Verdict::Deny, kAlways, "reaches hardware ports"},
    {MAYFLY_CALL(ioperm), Verdict::Deny, kAlways, "reaches hardware ports"},
    {MAYFLY_CALL(modify_ldt), Verdict::Absent, kAlways, "segments for 16-bit code; holes, and no user today"},
    {MAYFLY_CALL(lookup_dcookie), Verdict::Deny, kAlways, "reads paths of the whole host"},
    {MAYFLY_CALL(syslog), Verdict::Deny, kAlways, "reads and clears the host's kernel log"},

    // The whole host
    {MAYFLY_CALL(reboot), Verdict::Deny, kAlways, "stops the host, or a pid namespace behind its owner's back"},
    {MAYFLY_CALL(swapon), Verdict::Deny, kAlways, "changes the host's swap"},
    {MAYFLY_CALL(swapoff), Verdict::Deny, kAlways, "changes the host's swap"},
    {MAYFLY_CALL(acct), Verdict::Deny, kAlways, "writes process accounting into a file of choice"},
    {MAYFLY_CALL(quotactl), Verdict::Deny, kAlways, "quotas of host file systems"},
    {MAYFLY_CALL(quotactl_fd), Verdict::Deny, kAlways, "quotas of host file systems"},
    {MAYFLY_CALL(settimeofday), Verdict::Deny, kAlways, "sets the host's clock"},
    {MAYFLY_CALL(clock_settime), Verdict::Deny, kAlways, "sets the host's clock"},
    {MAYFLY_CALL(clock_adjtime), Verdict::Deny, kAlways, "bends the host's clock"},
    {MAYFLY_CALL(adjtimex), Verdict::Deny, kAlways, "bends the host's clock"},
    {MAYFLY_CALL(vhangup), Verdict::Deny, kAlways, "hangs up a terminal that others may hold"},

    // Files without a path
    {MAYFLY_CALL(open_by_handle_at), Verdict::Deny, kAlways, "opens any inode of a file system, outside every root"},
    {MAYFLY_CALL(name_to_handle_at), Verdict::Deny, kAlways, "makes the handles for open_by_handle_at"},
    {MAYFLY_CALL(fanotify_init), Verdict::Deny, kAlways, "watches and blocks whole file systems"},
    {MAYFLY_CALL(fanotify_mark), Verdict::Deny, kAlways, "watches and blocks whole file systems"},
});

}  // namespace mayfly::filter
