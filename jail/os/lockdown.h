// lock_down: how a process of ours narrows itself, as the first act of main. Descriptors that it holds keep working.
//   no_new_privs, not dumpable (so no core file either, and its /proc entries are root's), Landlock, then a seccomp
//   list.
// What is not listed is absent (ENOSYS), so that libraries fall back; what must never be called is listed as denied.
//
//   #include "jail/witness/confinement.h"      // the list stands beside the process it confines
//   if (const auto locked = lock_down(confinement::witness()); !locked) { log_failure(...); return 1; }
//
// A kernel without Landlock is no failure: the seccomp list stands alone there, as `mayfly doctor` reports. Everything
// else is: a process that cannot narrow itself must not run. Children and threads made later inherit all of it; threads
// that exist already do not, so call it before the first.
// Sources: landlock(7), seccomp(2), PR_SET_NO_NEW_PRIVS and PR_SET_DUMPABLE in prctl(2).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jail/expected.h"
#include "jail/os/syscall_filter.h"

namespace mayfly {

// A place in the file system that stays reachable, with all that lies below it. One that does not exist is skipped.
struct Reach {
  enum class Access : std::uint8_t {
    Read,     // files and directories
    Execute,  // read, and run programs and map libraries
    Write,    // read, make, change, remove
  };
  std::string path;
  Access access = Access::Read;
};

enum class Tcp : std::uint8_t { None, Any };  // new connections and listeners; accepted ones are not affected
enum class Signals : std::uint8_t { OwnOnly, Anybody };  // OwnOnly: itself and what it starts (Landlock's scope)

// Free: for the one process of ours that looks at others through /proc/<pid>/ns: Landlock denies that to whoever is
// in a domain that the other is not in, whatever the paths (landlock(7), "Ptrace restrictions").
enum class FileSystem : std::uint8_t { Confined, Free };

struct LockDown {
  std::span<const SyscallRows> calls;
  std::vector<Reach> reach;
  Tcp tcp = Tcp::None;
  Signals signals = Signals::OwnOnly;
  FileSystem files = FileSystem::Confined;  // Free: no Landlock at all, the seccomp list stands alone
};

Expected<void> lock_down(const LockDown& order);

// 0: the kernel has no Landlock, or it is switched off.
int landlock_version();

}  // namespace mayfly
