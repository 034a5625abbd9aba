// Descriptors that came from elsewhere, judged before a byte is moved. The peer's must be pipes or Unix stream sockets,
// the jail's pipes or the master of a pty; each open in the direction that is needed. All become non-blocking,
// so that no other process can make a relay wait.
#pragma once

#include "jail/os/fd.h"

namespace mayfly {

enum class Direction { Read, Write, Both };

// nullptr: fine, and non-blocking from now on. Else what is wrong, a literal.
const char* prepare_peer(const Fd& fd, Direction direction);
const char* prepare_jail_pipe(const Fd& fd, Direction direction);
const char* prepare_master(const Fd& fd);

}  // namespace mayfly
